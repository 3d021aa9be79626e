// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loop nest as statements of one thread.
//
// Which ops run in which loop over the row says NestPlan, what stands in a line
// NestExpressions. Here are the loops: over fours of elements where memory lies
// so, with the sums of each thread before them and their folding behind.
//
// Column by column (Columns) there is one element at a time and nothing is
// held.

#include "NestExpressions.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::cuda;

namespace {

class NestWriter : NestExpressions {
public:
  NestWriter(kernel::NestOp nest, const NestSchedule &schedule,
             ArrayRef<std::string> names, StringRef block, unsigned indent,
             std::string &problem)
      : NestExpressions(nest, schedule, names, block, indent, problem) {}

  std::optional<NestText> run() {
    if (!plan.run(problem) || !writeRows())
      return std::nullopt;
    // One row has no number.
    if (!mentions(StringRef(result.text).drop_front(rowEnd), "row"))
      result.text.erase(rowBegin, rowEnd - rowBegin);
    return std::move(result);
  }

private:
  //===--- Loops over the elements of a row -------------------------------===//

  /// What a reduction gathers: its type and where it starts.
  struct Gathered {
    std::string type, start, function, name, sum;
  };
  /// Numbers of 16 bits are combined in single precision, as on the CPU.
  static Type wideOf(Type type) {
    return isHalf(type) ? Float32Type::get(type.getContext()) : type;
  }
  std::string wideText(Value element) {
    std::string number = text(element).text;
    return isHalf(element.getType()) ? "toFloat(" + number + ")" : number;
  }

  Gathered gatheredOf(Operation *op) {
    Gathered g;
    g.sum = nameFor(op->getResult(0));
    g.name = unique(g.sum + "_all");
    Type combined = wideOf(op->getOperand(0).getType());
    if (auto reduce = dyn_cast<kernel::ReduceOp>(op)) {
      g.type = typeText(combined);
      g.start = identityText(reduce.getCombine(), combined);
      g.function = combineText(reduce.getCombine());
      return g;
    }
    g.type = "Best<" + typeText(combined) + ">";
    g.start = g.type + "{{}, -1}";
    auto index = dyn_cast<kernel::ReduceIndexOp>(op);
    g.function = !index             ? "Chosen()"
                 : index.getLeast() ? "Better<true>()"
                                    : "Better<false>()";
    return g;
  }

  /// What one element adds to a reduction.
  std::string contribution(Operation *op) {
    std::string element = wideText(op->getOperand(0));
    if (isa<kernel::ReduceOp>(op))
      return element;
    std::string number = elementNumber(false);
    std::string type = typeText(wideOf(op->getOperand(0).getType()));
    if (auto pick = dyn_cast<kernel::PickOp>(op))
      return "Best<" + type + ">{" + element + ", " + number +
             " == " + chosenNames.lookup(pick) + " ? " + number + " : -1}";
    return "Best<" + type + ">{" + element + ", " + number + "}";
  }

  /// Loads of `loop` that take four elements at once; their line.
  void writeFours(int loop) {
    for (Operation &op : nest.getBlock()) {
      auto load = dyn_cast<kernel::LoadOp>(op);
      if (!load || !plan.needed[loop].contains(&op) || load.getMask() ||
          !plan.isElement(load.getElement()))
        continue;
      auto access = accessOf(load.getMap(), load.getIndices(), load.getMemory(),
                             /*tryFour=*/true);
      if (!access->isOfFour)
        continue;
      std::string memory = memoryName(load.getMemory());
      std::string index = access->index;
      if (access->isChecked)
        index =
            checkedIndex(index, std::to_string(memorySize(load.getMemory())));
      std::string load4 = ofWidth("load") + "(" + memory + " + " + index + ")";
      std::string name;
      if (plan.held.contains(load.getElement())) {
        name = heldNames[load.getElement()];
        line(name + " = " + load4 + ";");
      } else {
        name = unique(ofWidth((memory + "_").c_str()));
        line("const " + neighbours(typeText(load.getElement().getType())) +
             " " + name + " = " + load4 + ";");
      }
      texts[load.getElement()] = {name + "[e]"};
      fours.insert(load);
    }
  }

  /// Stores of elements in the last loop: those of four get a place first.
  void openStores(int loop) {
    storesOfFour.clear();
    if (loop != plan.numLoops - 1)
      return;
    for (Operation &op : nest.getBlock()) {
      auto store = dyn_cast<kernel::StoreOp>(op);
      if (!store || !plan.isElementStore(store))
        continue;
      auto access = accessOf(store.getMap(), store.getIndices(),
                             store.getMemory(), /*tryFour=*/true);
      if (!access->isOfFour)
        continue;
      std::string memory = memoryName(store.getMemory());
      std::string name = unique(ofWidth((memory + "_").c_str()));
      line(neighbours(typeText(store.getElement().getType())) + " " + name +
           ";");
      storesOfFour[store] = {name, ofWidth("store") + "(" + memory + " + " +
                                       access->index + ", "};
    }
  }
  bool writeStore(kernel::StoreOp store) {
    std::string value = text(store.getElement()).text;
    if (auto found = storesOfFour.find(store); found != storesOfFour.end()) {
      line(found->second.first + "[e] = " + value + ";");
      return true;
    }
    auto access = accessOf(store.getMap(), store.getIndices(),
                           store.getMemory(), /*tryFour=*/false);
    if (access->isChecked)
      return fail(store, "writes where data say");
    lineOnce(store, memoryName(store.getMemory()) + "[" + access->index +
                        "] = " + value + ";");
    return true;
  }
  /// A statement that stores, for one of the iterations that have the element.
  void lineOnce(kernel::StoreOp store, const std::string &statement) {
    std::string isFirst = firstText(store);
    if (!isFirst.empty())
      line("if (" + isFirst + ")");
    line((isFirst.empty() ? "" : "  ") + statement);
  }
  /// Whether an iteration is the first of those that store to the same element:
  /// 0 on each axis that the element's place does not depend on. Empty where
  /// there is one.
  std::string firstText(kernel::StoreOp store) const {
    SmallVector<unsigned> repeats = plan.repeatedAxes(store);
    std::string all;
    auto add = [&](const std::string &number) {
      all += (all.empty() ? "" : " && ") + number + " == 0";
    };
    for (bool kind : {false, true}) {
      if (kind && !plan.isElementStore(store))
        continue;
      SmallVector<unsigned> axes = axesOf(kind), own;
      llvm::erase_if(axes,
                     [&](unsigned a) { return nest.getExtents()[a] == 1; });
      llvm::copy_if(axes, std::back_inserter(own),
                    [&](unsigned a) { return llvm::is_contained(repeats, a); });
      if (!own.empty() && own.size() == axes.size())
        add(kind ? elementNumber(false) : rowNumber());
      else
        for (unsigned axis : own)
          add(axisText(axis).text);
    }
    return all;
  }
  void closeStores() {
    for (Operation &op : nest.getBlock())
      if (auto store = dyn_cast<kernel::StoreOp>(op))
        if (auto found = storesOfFour.find(store); found != storesOfFour.end())
          lineOnce(store, found->second.second + found->second.first + ");");
  }

  /// The statements for one element.
  bool writeElement(int loop) {
    for (Operation &op : nest.getBlock()) {
      if (plan.needed[loop].contains(&op) && !writeScalar(&op))
        return false;
      if (isRoot(&op) && plan.rootLoop.lookup(&op) == loop) {
        const Gathered &g = gathered[&op];
        std::string to =
            schedule.mapping == Mapping::Columns ? g.name : g.name + "[e]";
        std::string more = contribution(&op);
        line(g.function == "Sum()"
                 ? to + " += " + more + ";"
                 : to + " = " + g.function + "(" + to + ", " + more + ");");
      }
    }
    if (loop == plan.numLoops - 1)
      for (Operation &op : nest.getBlock())
        if (auto store = dyn_cast<kernel::StoreOp>(op))
          if (plan.isElementStore(store) && !writeStore(store))
            return false;
    return true;
  }

  /// Whether `word` stands in `text` as a name.
  static bool mentions(StringRef text, StringRef word) {
    auto isName = [](char c) { return llvm::isAlnum(c) || c == '_'; };
    for (size_t at = text.find(word); at != StringRef::npos;
         at = text.find(word, at + 1)) {
      size_t end = at + word.size();
      if ((at == 0 || !isName(text[at - 1])) &&
          (end == text.size() || !isName(text[end])))
        return true;
    }
    return false;
  }

  bool hasElements(int loop) {
    bool isAny = false;
    for (Operation &op : nest.getBlock()) {
      auto store = dyn_cast<kernel::StoreOp>(op);
      isAny |= isRoot(&op) && plan.rootLoop.lookup(&op) == loop;
      isAny |= store && plan.isElementStore(store) && loop == plan.numLoops - 1;
    }
    return isAny;
  }

  bool writeLoop(int loop) {
    for (Operation &op : nest.getBlock())
      for (Value value : op.getResults())
        if (plan.isElement(value) && !plan.held.contains(value))
          texts.erase(value);
    fours.clear();
    if (schedule.mapping == Mapping::Columns) {
      open("for (" + indexType() + " row = threadIdx.x / 32 % 8; " +
           columnGuard() + "row < " + std::to_string(schedule.reduced) +
           "; row += 8)");
      bool isRight = writeElement(loop);
      close();
      return isRight;
    }
    columnBegin = 0;
    unsigned opened = openFours();
    forgetHeld(loop);
    writeFours(loop);
    openStores(loop);
    open("for (int e = 0; e < " + std::to_string(schedule.width) + "; ++e)");
    size_t begin = result.text.size();
    bool isPartial = elements() % schedule.width != 0;
    if (isPartial)
      open("if (at < " + std::to_string(elements()) + ")");
    if (!writeElement(loop))
      return false;
    if (isPartial)
      close();
    if (mentions(StringRef(result.text).drop_front(begin), "at")) {
      std::string body = result.text.substr(begin);
      result.text.resize(begin);
      line("const " + indexType() + " at = " + elementNumber(true) + " + e;");
      result.text += body;
    }
    close();
    closeStores();
    // What is held needs no number.
    if (columnBegin) {
      size_t end = result.text.find('\n', columnBegin) + 1;
      if (!mentions(StringRef(result.text).drop_front(end), "column"))
        result.text.erase(columnBegin, end - columnBegin);
    }
    while (opened-- > 0)
      close();
    return true;
  }

  /// What an earlier loop has computed of held reads is not held with them.
  void forgetHeld(int loop) {
    if (!plan.isComputedAgain())
      return;
    for (Operation &op : nest.getBlock())
      for (Value value : op.getResults())
        if (plan.held.contains(value) && isReadEarlier(&op, loop))
          line("asNew(" + heldNames[value] + ");");
  }
  bool isReadEarlier(Operation *op, int loop) const {
    for (int earlier = 0; earlier < loop; ++earlier)
      if (plan.needed[earlier].contains(op))
        return true;
    return false;
  }

  /// Goes to each four elements of the thread. How many braces it opens.
  unsigned openFours() {
    if (schedule.mapping == Mapping::Elements)
      return 0;
    int64_t passes = schedule.passes(), all = schedule.width * schedule.threads;
    std::string count = std::to_string(elements());
    bool isWhole = elements() % all == 0;
    if (passes == 1) {
      if (isWhole && !hasIdle())
        return 0;
      open("if (column < " + count + ")");
      return 1;
    }
    unsigned opened = hasIdle();
    if (opened)
      open("if (threadIdx.x < " + std::to_string(schedule.threads) + ")");
    if (plan.held.empty()) {
      open("for (" + indexType() + " column = " + lane() + times() +
           "; column < " + count + "; column += " + std::to_string(all) + ")");
      return opened + 1;
    }
    line("#pragma unroll");
    open("for (int k = 0; k < " + std::to_string(passes) + "; ++k)");
    columnBegin = result.text.size();
    line("const " + indexType() + " column = (k * " +
         std::to_string(schedule.threads) + " + " + lane() + ")" + times() +
         ";");
    if (isWhole)
      return opened + 1;
    open("if (column < " + count + ")");
    return opened + 2;
  }
  /// " * 4", of the number of a thread.
  std::string times() const {
    return schedule.width == 1 ? "" : " * " + std::to_string(schedule.width);
  }
  /// Whether the block of a row has more threads than the row.
  bool hasIdle() const {
    return schedule.mapping == Mapping::BlockRow &&
           schedule.blockThreads > schedule.threads;
  }
  std::string lane() const {
    return schedule.mapping == Mapping::WarpRow ? "lane" : "int(threadIdx.x)";
  }
  int64_t columnsOfBlock() const { return schedule.blockThreads / 8; }
  std::string columnGuard() const {
    return schedule.kept % columnsOfBlock() ? "isInside && " : "";
  }
  /// Number of a column, before it is known to be one.
  std::string columnNumber() const {
    std::string first =
        blockNumber() + " * " + std::to_string(columnsOfBlock()) + " + ";
    return schedule.blockThreads == 256
               ? first + "threadIdx.x % 32"
               : first + "threadIdx.x / 256 * 32 + threadIdx.x % 32";
  }

  //===--- The row --------------------------------------------------------===//

  bool writeRows() {
    writeHead();
    declareHeld();
    for (int loop = 0; loop <= plan.numLoops; ++loop) {
      if (!writeRowScalars(loop))
        return false;
      if (loop == plan.numLoops || !hasElements(loop))
        continue;
      for (Operation &op : nest.getBlock())
        if (isRoot(&op) && plan.rootLoop.lookup(&op) == loop)
          if (!declareGathered(&op))
            return false;
      if (!writeLoop(loop))
        return false;
      for (Operation &op : nest.getBlock())
        if (isRoot(&op) && plan.rootLoop.lookup(&op) == loop)
          combineGathered(&op);
    }
    return writeRowStores();
  }

  void writeHead() {
    std::string kept = std::to_string(schedule.kept);
    switch (schedule.mapping) {
    case Mapping::Elements:
      line("const " + indexType() + " element = (" + blockNumber() + " * " +
           std::to_string(schedule.blockThreads) + " + threadIdx.x)" + times() +
           ";");
      if (schedule.kept % (schedule.width * schedule.blockThreads)) {
        line("if (element >= " + kept + ")");
        line("  return;");
      }
      return;
    case Mapping::WarpRow:
      line("const int lane = threadIdx.x % 32;");
      line("const " + indexType() + " row = " + blockNumber() + " * " +
           std::to_string(schedule.blockThreads / 32) + " + threadIdx.x / 32;");
      if (schedule.kept % (schedule.blockThreads / 32)) {
        line("if (row >= " + kept + ")");
        line("  return;");
      }
      break;
    case Mapping::BlockRow:
      rowBegin = result.text.size();
      line("const " + indexType() + " row = " + block + ";");
      rowEnd = result.text.size();
      break;
    case Mapping::Columns:
      if (columnGuard().empty()) {
        line("const " + indexType() + " column = " + columnNumber() + ";");
      } else {
        line("const bool isInside = " + columnNumber() + " < " + kept + ";");
        line("const " + indexType() + " column = isInside ? " + columnNumber() +
             " : 0;");
      }
      return;
    }
    if (schedule.passes() == 1)
      line("const " + indexType() + " column = " + lane() + times() + ";");
  }

  void declareHeld() {
    for (Operation &op : nest.getBlock())
      for (Value value : op.getResults()) {
        if (!plan.held.contains(value))
          continue;
        std::string name = nameFor(value), type = typeText(value.getType());
        bool isArray = schedule.passes() > 1;
        line(neighbours(type) + " " + name +
             (isArray ? "[" + std::to_string(schedule.passes()) + "];" : ";"));
        heldNames[value] = isArray ? name + "[k]" : name;
        texts[value] = {heldNames[value] + "[e]"};
      }
  }

  bool isRowScalar(Operation *op) const {
    return op->getNumResults() && !isRoot(op) &&
           !plan.isElement(op->getResult(0)) && !isConstant(op->getResult(0));
  }
  bool writeRowScalars(int loop) {
    for (Operation &op : nest.getBlock())
      if (isRowScalar(&op) && plan.loopOf.lookup(op.getResult(0)) == loop &&
          !writeScalar(&op))
        return false;
    return true;
  }

  bool declareGathered(Operation *op) {
    if (auto pick = dyn_cast<kernel::PickOp>(op)) {
      std::string name = unique("chosen");
      line("const long long " + name + " = " +
           checkedIndex(text(pick.getAt()).text,
                        std::to_string(schedule.reduced)) +
           ";");
      chosenNames[op] = name;
    }
    Gathered g = gatheredOf(op);
    if (schedule.mapping == Mapping::Columns)
      line(g.type + " " + g.name + " = " + g.start + ";");
    else
      line(neighbours(g.type) + " " + g.name + " = " + ofWidth("all") + "<" +
           g.type + ">(" + g.start + ");");
    gathered[op] = g;
    return true;
  }

  void combineGathered(Operation *op) {
    const Gathered &g = gathered[op];
    std::string all = g.name, text;
    bool isNarrow = schedule.width < 4;
    if (schedule.mapping != Mapping::Columns && !isNarrow)
      all = "fold4(" + g.function + ", " + all + ")";
    std::string list = "(" + g.function + ", " + all;
    std::string shared = ", sharedMemory<" + g.type + ">())";
    int64_t count = 0;
    switch (schedule.mapping) {
    case Mapping::WarpRow:
      text = (isNarrow ? "warpReduceOf" : "warpReduce") + list + ")";
      break;
    case Mapping::BlockRow:
      // Warps that are idle have a place, which nobody reads.
      count = schedule.blockThreads / 32;
      text = "blockReduce<" + std::to_string(schedule.threads / 32) + ">" +
             list + shared;
      if (!isNarrow)
        break;
      count = std::max(count, schedule.fours());
      text = "blockReduceOf<" + std::to_string(schedule.fours()) + ">" + list +
             shared;
      break;
    default:
      count = schedule.blockThreads;
      text = "columnReduce<8>" + list + shared;
    }
    if (StringRef(g.type).starts_with("Best"))
      text += isa<kernel::PickOp>(op) ? ".value" : ".at";
    result.sharedBytes = std::max(result.sharedBytes, count * 16);
    Type type = op->getResult(0).getType();
    line("const " + typeText(type) + " " + g.sum + " = " +
         roundedText(type, text) + ";");
    texts[op->getResult(0)] = {g.sum};
  }

  bool writeRowStores() {
    bool isOpen = false;
    for (Operation &op : nest.getBlock()) {
      auto store = dyn_cast<kernel::StoreOp>(op);
      if (!store || plan.isElementStore(store))
        continue;
      if (!isOpen) {
        if (schedule.mapping == Mapping::WarpRow && plan.mayReplaceRowScalar())
          line("__syncwarp();");
        open(schedule.mapping == Mapping::WarpRow ? "if (lane == 0)"
             : schedule.mapping == Mapping::BlockRow
                 ? "if (threadIdx.x == 0)"
                 : "if (" + columnGuard() + "threadIdx.x / 32 % 8 == 0)");
      }
      isOpen = true;
      if (!writeStore(store))
        return false;
    }
    if (isOpen)
      close();
    return true;
  }

  size_t rowBegin = 0, rowEnd = 0; ///< of a block's `row`
  size_t columnBegin = 0; ///< where this loop's `column` is declared, or 0
  llvm::DenseMap<Operation *, std::pair<std::string, std::string>> storesOfFour;
  llvm::DenseMap<Operation *, Gathered> gathered;
  llvm::DenseMap<Operation *, std::string> chosenNames; ///< of picks
};

} // namespace

std::optional<NestText> cuda::writeNest(kernel::NestOp nest,
                                        const NestSchedule &schedule,
                                        ArrayRef<std::string> names,
                                        StringRef block, unsigned indent,
                                        std::string &problem) {
  return NestWriter(nest, schedule, names, block, indent, problem).run();
}
