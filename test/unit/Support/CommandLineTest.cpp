// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "cutback/Support/CommandLine.h"

#include <gtest/gtest.h>

using namespace cutback;

namespace {

CommandSpec exampleSpec() {
  CommandSpec spec;
  spec.name = "draw";
  spec.arguments = "IN";
  spec.summary = "Draw a plan.";
  spec.options = {
      {"o", OptionSpec::Text, "F", "output"},
      {"strategy", OptionSpec::Choice, "min-cut|default", "what to save", false,
       0, "all"},
      {"radius", OptionSpec::Integer, "N", "how far", false, 1},
      {"byte-price", OptionSpec::Number, "PS", "price\nof a byte"},
      {"sym", OptionSpec::Text, "NAME=SIZE", "size", true},
      {"json", OptionSpec::Flag, "", "JSON"},
  };
  spec.examples = {"draw a.txt -o a.svg"};
  return spec;
}

std::string errorOf(std::vector<std::string_view> args) {
  std::string error;
  EXPECT_FALSE(parseCommandLine(exampleSpec(), args, error));
  return error;
}

CommandLine parsed(const std::vector<std::string_view> &args) {
  std::string error;
  auto line = parseCommandLine(exampleSpec(), args, error);
  EXPECT_TRUE(line) << error;
  return line.value_or(CommandLine());
}

} // namespace

TEST(CommandLine, bothFormsOfValues) {
  CommandLine line = parsed({"--strategy=default", "--radius", "3", "in.txt",
                             "-o", "a.svg", "--json"});
  EXPECT_EQ(line.get("strategy"), "default");
  EXPECT_EQ(line.integer("radius"), 3);
  EXPECT_EQ(line.get("o"), "a.svg");
  EXPECT_TRUE(line.has("json"));
  EXPECT_FALSE(line.has("sym"));
  EXPECT_FALSE(line.integer("sym"));
  ASSERT_EQ(line.arguments.size(), 1u);
  EXPECT_EQ(line.arguments[0], "in.txt");
}

TEST(CommandLine, aDashIsAnArgumentAndTwoEndTheOptions) {
  EXPECT_EQ(parsed({"-"}).arguments[0], "-");
  EXPECT_EQ(parsed({"--", "--json"}).arguments[0], "--json");
}

TEST(CommandLine, repeatableOptionsKeepTheirOrder) {
  CommandLine line = parsed({"in", "--sym=a=1", "--sym", "b=2"});
  ASSERT_EQ(line.all("sym").size(), 2u);
  EXPECT_EQ(line.all("sym")[1], "b=2");
  EXPECT_EQ(line.get("sym"), "b=2");
}

TEST(CommandLine, helpWinsOverWhatIsMissing) {
  EXPECT_TRUE(parsed({"--help"}).help);
  EXPECT_TRUE(parsed({"--unknown", "-h"}).help);
}

TEST(CommandLine, unknownOptionsNameTheNearest) {
  EXPECT_EQ(errorOf({"in", "--stratgy=default"}),
            "unknown option '--stratgy'; did you mean '--strategy'?");
  EXPECT_EQ(errorOf({"in", "--memory-limit=24GiB"}),
            "unknown option '--memory-limit'");
  EXPECT_EQ(errorOf({"in", "-j"}), "unknown option '-j'");
  EXPECT_EQ(errorOf({"in", "--o=a"}), "unknown option '--o'; did you mean "
                                      "'-o'?")
      << "one letter takes one dash";
}

TEST(CommandLine, valuesAreChecked) {
  EXPECT_EQ(errorOf({"in", "--strategy=min-cat"}),
            "'min-cat' is not one of min-cut|default for --strategy; did you "
            "mean 'min-cut'?");
  EXPECT_EQ(errorOf({"in", "--strategy=zzz"}),
            "'zzz' is not one of min-cut|default for --strategy");
  EXPECT_EQ(errorOf({"in", "--radius=0"}),
            "'0' is not a whole number from 1 on, for --radius");
  EXPECT_EQ(errorOf({"in", "--radius=3x"}),
            "'3x' is not a whole number from 1 on, for --radius");
  EXPECT_EQ(errorOf({"in", "--radius=99999999999999999999"}),
            "'99999999999999999999' is not a whole number from 1 on, for "
            "--radius");
  EXPECT_EQ(errorOf({"in", "--radius=4294967297"}),
            "'4294967297' is more than 2147483647, for --radius");
  EXPECT_EQ(errorOf({"in", "--byte-price=inf"}),
            "'inf' is not a number from 0 on, for --byte-price");
  EXPECT_EQ(parsed({"in", "--byte-price=0.25"}).number("byte-price"), 0.25);
  EXPECT_EQ(parsed({"in", "--strategy=all"}).get("strategy"), "all");
}

TEST(CommandLine, valuesAreThereExactlyWhereTheyBelong) {
  EXPECT_EQ(errorOf({"in", "--json=1"}), "option '--json' takes no value");
  EXPECT_EQ(errorOf({"in", "-o"}), "option '-o' needs a value, F");
  EXPECT_EQ(errorOf({"in", "--sym="}), "option '--sym' has an empty value");
  EXPECT_EQ(errorOf({"in", "--radius=1", "--radius=2"}),
            "option '--radius' is given twice");
}

TEST(CommandLine, argumentsAreCounted) {
  EXPECT_EQ(errorOf({}), "expected IN");
  EXPECT_EQ(errorOf({"a", "b"}), "unexpected argument 'b' after IN");
}

TEST(CommandLine, helpListsEveryOptionAndTheExamples) {
  EXPECT_EQ(commandHelp("cutback", exampleSpec()),
            "usage: cutback draw IN [options]\n\n"
            "Draw a plan.\n\n"
            "options:\n"
            "  -o F                     output\n"
            "  --strategy=min-cut|default\n"
            "                           what to save\n"
            "  --radius=N               how far\n"
            "  --byte-price=PS          price\n"
            "                           of a byte\n"
            "  --sym=NAME=SIZE          size\n"
            "  --json                   JSON\n\n"
            "examples:\n"
            "  cutback draw a.txt -o a.svg\n");
}

TEST(CommandLine, longExamplesGoOnBehindABackslash) {
  CommandSpec spec = exampleSpec();
  spec.examples = {"draw a-rather-long-name.txt --strategy=min-cut --radius=3 "
                   "--byte-price=0.25 --json"};
  std::string help = commandHelp("cutback", spec);
  EXPECT_NE(help.find("  cutback draw a-rather-long-name.txt "
                      "--strategy=min-cut --radius=3 \\\n"
                      "      --byte-price=0.25 --json\n"),
            std::string::npos)
      << help;
}
