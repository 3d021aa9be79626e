// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loop nest as statements of one thread.
//
// Which ops run in which loop over the row says NestPlan. Each value is a
// variable, or stands in the expression of its one reader where that is short.
// Memory whose index is the element's number plus multiples of four is read and
// written four elements at a time.
//
// Column by column (Columns) there is one element at a time and nothing
// plan.held.

#include "KernelText.h"
#include "ScalarText.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::cuda;

/// Longest expression that stands where it is used.
static constexpr size_t kInlineLength = 56;

namespace {

/// c0 + c1 x1 + ... over the dimensions of a map.
struct LinearForm {
  SmallVector<int64_t> factors;
  int64_t constant = 0;

  bool add(AffineExpr expr, int64_t factor) {
    if (auto number = dyn_cast<AffineConstantExpr>(expr)) {
      constant += factor * number.getValue();
      return true;
    }
    if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
      factors[dim.getPosition()] += factor;
      return true;
    }
    auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
    if (!binary)
      return false;
    if (expr.getKind() == AffineExprKind::Add)
      return add(binary.getLHS(), factor) && add(binary.getRHS(), factor);
    auto number = dyn_cast<AffineConstantExpr>(binary.getRHS());
    return expr.getKind() == AffineExprKind::Mul && number &&
           add(binary.getLHS(), factor * number.getValue());
  }
};

class NestWriter {
public:
  NestWriter(kernel::NestOp nest, const NestSchedule &schedule,
             ArrayRef<std::string> names, StringRef block, unsigned indent,
             std::string &problem)
      : nest(nest), schedule(schedule), names(names), block(block),
        indent(indent), problem(problem), plan(nest, schedule) {
    for (const std::string &name : names)
      used.insert(name);
    int64_t limit = INT32_MAX - 4096;
    isWide = schedule.kept > limit / schedule.reduced;
    for (BlockArgument memory : nest->getParentRegion()->getArguments())
      isWide |= memorySize(memory) > limit;
  }

  std::optional<NestText> run() {
    if (!plan.run(problem) || !writeRows())
      return std::nullopt;
    // One row has no number.
    if (!mentions(StringRef(result.text).drop_front(rowEnd), "row"))
      result.text.erase(rowBegin, rowEnd - rowBegin);
    return std::move(result);
  }

private:
  using Mapping = NestSchedule;

  bool fail(Operation *op, const Twine &why) {
    problem = ("'" + op->getName().getStringRef() + "' " + why).str();
    return false;
  }

  //===--- Names ----------------------------------------------------------===//

  std::string unique(const std::string &wanted) {
    std::string name = wanted;
    for (unsigned i = 2; !used.insert(name).second; ++i)
      name = wanted + "_" + std::to_string(i);
    return name;
  }
  std::string memoryName(Value memory) const {
    return names[cast<BlockArgument>(memory).getArgNumber()];
  }
  static int64_t memorySize(Value memory) {
    return cast<MemRefType>(memory.getType()).getNumElements();
  }
  std::string nameFor(Value value) {
    Operation *op = value.getDefiningOp();
    if (auto load = dyn_cast<kernel::LoadOp>(op))
      return unique(memoryName(load.getMemory()) + "_x");
    if (auto reduce = dyn_cast<kernel::ReduceOp>(op)) {
      static const char *const names[] = {"sum",     "product",  "greatest",
                                          "least",   "greatest", "least",
                                          "all_set", "any_set"};
      return unique(names[static_cast<int>(reduce.getCombine())]);
    }
    if (isa<kernel::ReduceIndexOp>(op))
      return unique("best");
    if (isa<kernel::PickOp>(op))
      return unique("picked");
    for (OpOperand &use : value.getUses())
      if (auto store = dyn_cast<kernel::StoreOp>(use.getOwner()))
        if (use.getOperandNumber() == 0)
          return unique(memoryName(store.getMemory()) + "_x");
    StringRef mnemonic = op->getName().stripDialect();
    if (isa<arith::ArithDialect>(op->getDialect()))
      mnemonic = mnemonic.rtrim("fi");
    return unique(mnemonic.str() + "_" + std::to_string(++numNamed));
  }

  //===--- Lines ----------------------------------------------------------===//

  /// Of numbers of elements.
  std::string indexType() const { return isWide ? "long long" : "int"; }
  std::string blockNumber() const {
    return isWide ? "(long long)" + block : block;
  }

  void line(const Twine &text) {
    result.text.append(indent, ' ');
    result.text += text.str();
    result.text += '\n';
  }
  void open(const Twine &text) {
    line(text + " {");
    indent += 2;
  }
  void close() {
    indent -= 2;
    line("}");
  }

  //===--- Indices --------------------------------------------------------===//

  /// The number of the element that a thread is at, or of its first of four.
  std::string elementNumber(bool ofFour) const {
    if (schedule.mapping == Mapping::Columns)
      return "row";
    if (!ofFour)
      return "at";
    return schedule.mapping == Mapping::Elements ? "element" : "column";
  }
  std::string rowNumber() const {
    return schedule.mapping == Mapping::Columns ? "column" : "row";
  }
  /// Whether an axis is one of the element's number, not of the row's.
  bool isOfElement(unsigned axis) const {
    return schedule.mapping == Mapping::Elements || nest.getReduced()[axis];
  }
  SmallVector<unsigned> axesOf(bool ofElement) const {
    SmallVector<unsigned> axes;
    for (unsigned axis = 0; axis < nest.getExtents().size(); ++axis)
      if (isOfElement(axis) == ofElement)
        axes.push_back(axis);
    return axes;
  }

  /// An axis by itself, from the number of the row or element.
  Text axisText(unsigned axis, bool ofFour = false) const {
    bool ofElement = isOfElement(axis);
    std::string number = ofElement ? elementNumber(ofFour) : rowNumber();
    int64_t stride = 1, all = 1;
    for (unsigned other : axesOf(ofElement)) {
      all *= nest.getExtents()[other];
      stride *= other > axis ? nest.getExtents()[other] : 1;
    }
    int64_t extent = nest.getExtents()[axis];
    std::string text = number;
    if (stride > 1)
      text += " / " + std::to_string(stride);
    if (stride * extent < all)
      text += " % " + std::to_string(extent);
    return {text, stride == 1 && extent == all};
  }

  static void addTerm(std::string &sum, int64_t factor, const Text &text) {
    if (factor == 0)
      return;
    if (!sum.empty())
      sum += factor < 0 ? " - " : " + ";
    else if (factor < 0)
      sum += "-";
    factor = std::abs(factor);
    sum += factor == 1 ? text.operand()
                       : text.operand() + " * " + std::to_string(factor);
  }

  /// Axes of one kind in a linear form: one factor of their number where they
  /// lie behind each other. Nothing where they do not.
  std::optional<int64_t> collapse(ArrayRef<int64_t> byAxis,
                                  bool ofElement) const {
    SmallVector<unsigned> axes = axesOf(ofElement);
    if (axes.empty())
      return 0;
    int64_t factor = byAxis[axes.back()], stride = 1;
    for (unsigned axis : llvm::reverse(axes)) {
      if (byAxis[axis] != factor * stride)
        return std::nullopt;
      stride *= nest.getExtents()[axis];
    }
    return factor;
  }

  struct Access {
    std::string index;
    bool isOfFour = false; ///< may be read and written four at a time
    bool isChecked = false;
  };
  std::optional<Access> accessOf(AffineMap map, ValueRange indices,
                                 Value memory, bool tryFour) {
    Access access;
    LinearForm form;
    form.factors.assign(map.getNumDims(), 0);
    bool isLinear = form.add(map.getResult(0), 1);
    SmallVector<int64_t> byAxis(nest.getExtents().size(), 0);
    std::string sum;
    bool hasFours = isLinear && form.constant % 4 == 0;
    for (auto [i, index] : llvm::enumerate(indices)) {
      auto axis = dyn_cast<BlockArgument>(index);
      access.isChecked |= !axis;
      if (axis && isLinear)
        byAxis[axis.getArgNumber()] += form.factors[i];
    }
    if (!isLinear) {
      access.index = affineText(map.getResult(0), indices).text;
      return access;
    }
    std::optional<int64_t> ofElement = collapse(byAxis, true);
    for (auto [axis, factor] : llvm::enumerate(byAxis))
      hasFours &= isOfElement(axis) || factor % 4 == 0;
    for (auto [i, index] : llvm::enumerate(indices))
      if (!isa<BlockArgument>(index))
        hasFours &= form.factors[i] % 4 == 0 && !plan.isElement(index);
    access.isOfFour = tryFour && hasFours && ofElement == 1 &&
                      schedule.mapping != Mapping::Columns &&
                      elements() % 4 == 0 && memorySize(memory) % 4 == 0;
    for (auto [i, index] : llvm::enumerate(indices))
      if (!isa<BlockArgument>(index))
        addTerm(sum, form.factors[i], text(index));
    for (bool kind : {false, true}) {
      std::string number = kind ? elementNumber(access.isOfFour) : rowNumber();
      if (std::optional<int64_t> factor = collapse(byAxis, kind))
        addTerm(sum, *factor, {number});
      else
        for (unsigned axis : axesOf(kind))
          addTerm(sum, byAxis[axis], axisText(axis));
    }
    if (form.constant || sum.empty())
      sum += sum.empty()         ? std::to_string(form.constant)
             : form.constant < 0 ? " - " + std::to_string(-form.constant)
                                 : " + " + std::to_string(form.constant);
    // One term needs no parentheses.
    if (sum.front() == '(' && sum.find(')') == sum.size() - 1)
      sum = sum.substr(1, sum.size() - 2);
    access.index = sum;
    return access;
  }

  Text affineText(AffineExpr expr, ValueRange indices) {
    if (auto number = dyn_cast<AffineConstantExpr>(expr))
      return {std::to_string(number.getValue()), number.getValue() >= 0};
    if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
      Value index = indices[dim.getPosition()];
      auto axis = dyn_cast<BlockArgument>(index);
      return axis ? axisText(axis.getArgNumber()) : text(index);
    }
    auto binary = cast<AffineBinaryOpExpr>(expr);
    std::string a = affineText(binary.getLHS(), indices).operand();
    std::string b = affineText(binary.getRHS(), indices).operand();
    switch (expr.getKind()) {
    case AffineExprKind::Add:
      return {a + " + " + b, false};
    case AffineExprKind::Mul:
      return {a + " * " + b, false};
    case AffineExprKind::FloorDiv:
      if (kernel::isNatural(binary.getLHS(), indices))
        return {a + " / " + b, false};
      return {"floorDivide<long long>(" + a + ", " + b + ")"};
    case AffineExprKind::CeilDiv:
      return {"-floorDivide<long long>(-" + a + ", " + b + ")", false};
    default:
      return kernel::isNatural(binary.getLHS(), indices)
                 ? Text{a + " % " + b, false}
                 : Text{"floorRemainder<long long>(" + a + ", " + b + ")"};
    }
  }

  /// Elements of a row, or of all.
  int64_t elements() const {
    return schedule.mapping == Mapping::Elements ? schedule.kept
                                                 : schedule.reduced;
  }

  //===--- Expressions ----------------------------------------------------===//

  Text text(Value value) {
    if (auto axis = dyn_cast<BlockArgument>(value))
      return axisText(axis.getArgNumber());
    if (isConstant(value))
      return *scalarText(value.getDefiningOp(), {});
    return texts.lookup(value);
  }

  /// Whether the one reader of `value` may have it in its own expression.
  bool isInline(Value value, const Text &expression) const {
    if (!value.hasOneUse() || plan.held.contains(value) ||
        expression.text.size() > kInlineLength)
      return false;
    Operation *user = *value.getUsers().begin();
    if (isa<kernel::LoadOp>(user))
      return true;
    if (plan.isElement(value))
      return true;
    bool isUserOfElement =
        user->getNumResults()
            ? plan.isElement(user->getResult(0)) || isRoot(user)
            : plan.isElementStore(cast<kernel::StoreOp>(user));
    return !isUserOfElement;
  }

  /// `value` is `expression` from here on.
  void define(Value value, const Text &expression, bool mayInline = true) {
    if (plan.held.contains(value) && plan.isElement(value)) {
      const std::string &name = heldNames[value];
      line(name + "[e] = " + expression.text + ";");
      texts[value] = {name + "[e]"};
      return;
    }
    if (mayInline && isInline(value, expression)) {
      texts[value] = expression;
      return;
    }
    std::string name = nameFor(value);
    line("const " + typeText(value.getType()) + " " + name + " = " +
         expression.text + ";");
    texts[value] = {name};
  }

  bool writeScalar(Operation *op) {
    if (isConstant(op->getResult(0)))
      return true;
    if (auto load = dyn_cast<kernel::LoadOp>(op))
      return writeLoad(load);
    if (auto draw = dyn_cast<kernel::DrawOp>(op))
      return writeDraw(draw);
    SmallVector<Text> operands;
    for (Value operand : op->getOperands())
      operands.push_back(text(operand));
    std::optional<Text> expression = scalarText(op, operands);
    if (!expression)
      return fail(op, "has no CUDA text");
    define(op->getResult(0), *expression);
    return true;
  }

  bool writeLoad(kernel::LoadOp load) {
    if (texts.count(load.getElement()) && fours.contains(load))
      return true;
    auto access = accessOf(load.getMap(), load.getIndices(), load.getMemory(),
                           /*tryFour=*/false);
    std::string index = access->index;
    if (access->isChecked)
      index = checkedIndex(index, memorySize(load.getMemory()));
    std::string expression = memoryName(load.getMemory()) + "[" + index + "]";
    if (load.getMask())
      expression = text(load.getMask()).operand() + " ? " + expression + " : " +
                   text(load.getOtherwise()).operand();
    // In a line of its own: what is stored may lie where it is read.
    define(load.getElement(), {expression}, /*mayInline=*/false);
    return true;
  }

  std::string checkedIndex(const std::string &index, int64_t size) {
    result.checks = true;
    return "checked(" + index + ", " + std::to_string(size) + ", problem)";
  }

  bool writeDraw(kernel::DrawOp draw) {
    Type type = draw.getResult().getType();
    std::string list = "(" + text(draw.getSeed()).text + ", " +
                       std::to_string(draw.getStream()) + "ll, " +
                       text(draw.getIndex()).text;
    std::string name = typeText(type);
    if (draw.getDraw() == kernel::Draw::Bits) {
      bool isWide = type.isInteger(64);
      define(draw.getResult(),
             {"(" + name + ")" + (isWide ? "randomWord64" : "randomWord") +
              list + ")"});
      return true;
    }
    std::string number = draw.getDraw() == kernel::Draw::Uniform
                             ? "randomUniform"
                             : "randomNormal";
    number += list + (type.isF64() ? ", true)" : ", false)");
    if (!type.isF64())
      number = "float(" + number + ")";
    if (type.isBF16() || type.isF16())
      number = (type.isBF16() ? "toBf16(" : "toF16(") + number + ")";
    define(draw.getResult(), {number});
    return true;
  }

  //===--- Loops over the elements of a row -------------------------------===//

  /// What a reduction gathers: its type and where it starts.
  struct Gathered {
    std::string type, start, function, name, sum;
  };
  Gathered gatheredOf(Operation *op) {
    Gathered g;
    g.sum = nameFor(op->getResult(0));
    g.name = unique(g.sum + "_all");
    if (auto reduce = dyn_cast<kernel::ReduceOp>(op)) {
      g.type = typeText(reduce.getResult().getType());
      g.start = identityText(reduce.getCombine(), reduce.getResult().getType());
      g.function = combineText(reduce.getCombine());
      return g;
    }
    g.type = "Best<" + typeText(op->getOperand(0).getType()) + ">";
    g.start = g.type + "{{}, -1}";
    auto index = dyn_cast<kernel::ReduceIndexOp>(op);
    g.function = !index             ? "Chosen()"
                 : index.getLeast() ? "Better<true>()"
                                    : "Better<false>()";
    return g;
  }

  /// What one element adds to a reduction.
  std::string contribution(Operation *op) {
    std::string element = text(op->getOperand(0)).text;
    if (isa<kernel::ReduceOp>(op))
      return element;
    std::string number = elementNumber(false);
    std::string type = typeText(op->getOperand(0).getType());
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
        index = checkedIndex(index, memorySize(load.getMemory()));
      std::string load4 = "load4(" + memory + " + " + index + ")";
      std::string name;
      if (plan.held.contains(load.getElement())) {
        name = heldNames[load.getElement()];
        line(name + " = " + load4 + ";");
      } else {
        name = unique(memory + "_4");
        line("const Four<" + typeText(load.getElement().getType()) + "> " +
             name + " = " + load4 + ";");
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
      std::string name = unique(memory + "_4");
      line("Four<" + typeText(store.getElement().getType()) + "> " + name +
           ";");
      storesOfFour[store] = {name,
                             "store4(" + memory + " + " + access->index + ", "};
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
    writeFours(loop);
    openStores(loop);
    open("for (int e = 0; e < 4; ++e)");
    size_t begin = result.text.size();
    bool isPartial = elements() % 4 != 0;
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

  /// Goes to each four elements of the thread. How many braces it opens.
  unsigned openFours() {
    if (schedule.mapping == Mapping::Elements)
      return 0;
    int64_t passes = schedule.passes(), all = 4 * schedule.threads;
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
      open("for (" + indexType() + " column = " + lane() + " * 4; column < " +
           count + "; column += " + std::to_string(all) + ")");
      return opened + 1;
    }
    line("#pragma unroll");
    open("for (int k = 0; k < " + std::to_string(passes) + "; ++k)");
    columnBegin = result.text.size();
    line("const " + indexType() + " column = (k * " +
         std::to_string(schedule.threads) + " + " + lane() + ") * 4;");
    if (isWhole)
      return opened + 1;
    open("if (column < " + count + ")");
    return opened + 2;
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
           std::to_string(schedule.blockThreads) + " + threadIdx.x) * 4;");
      if (schedule.kept % (4 * schedule.blockThreads)) {
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
      line("const " + indexType() + " column = " + lane() + " * 4;");
  }

  void declareHeld() {
    for (Operation &op : nest.getBlock())
      for (Value value : op.getResults()) {
        if (!plan.held.contains(value))
          continue;
        std::string name = nameFor(value), type = typeText(value.getType());
        bool isArray = schedule.passes() > 1;
        line("Four<" + type + "> " + name +
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
           checkedIndex(text(pick.getAt()).text, schedule.reduced) + ";");
      chosenNames[op] = name;
    }
    Gathered g = gatheredOf(op);
    if (schedule.mapping == Mapping::Columns)
      line(g.type + " " + g.name + " = " + g.start + ";");
    else
      line("Four<" + g.type + "> " + g.name + " = all4<" + g.type + ">(" +
           g.start + ");");
    gathered[op] = g;
    return true;
  }

  void combineGathered(Operation *op) {
    const Gathered &g = gathered[op];
    std::string all = g.name, text;
    if (schedule.mapping != Mapping::Columns)
      all = "fold4(" + g.function + ", " + all + ")";
    std::string list = "(" + g.function + ", " + all;
    std::string shared = ", sharedMemory<" + g.type + ">())";
    int64_t count = 0;
    switch (schedule.mapping) {
    case Mapping::WarpRow:
      text = "warpReduce" + list + ")";
      break;
    case Mapping::BlockRow:
      // Warps that are idle have a place, which nobody reads.
      count = schedule.blockThreads / 32;
      text = "blockReduce<" + std::to_string(schedule.threads / 32) + ">" +
             list + shared;
      break;
    default:
      count = schedule.blockThreads;
      text = "columnReduce<8>" + list + shared;
    }
    if (StringRef(g.type).starts_with("Best"))
      text += isa<kernel::PickOp>(op) ? ".value" : ".at";
    result.sharedBytes = std::max(result.sharedBytes, count * 16);
    line("const " + typeText(op->getResult(0).getType()) + " " + g.sum + " = " +
         text + ";");
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

  mutable kernel::NestOp nest; ///< accessors of ops are not const
  const NestSchedule &schedule;
  ArrayRef<std::string> names;
  std::string block;
  unsigned indent;
  std::string &problem;
  NestText result;

  NestPlan plan;
  llvm::DenseMap<Value, std::string> heldNames;
  llvm::StringSet<> used;
  unsigned numNamed = 0;
  size_t rowBegin = 0, rowEnd = 0; ///< of a block's `row`
  size_t columnBegin = 0; ///< where this loop's `column` is declared, or 0
  bool isWide = false;    ///< more than 32 bits count
  llvm::DenseMap<Value, Text> texts;
  llvm::DenseSet<Operation *> fours; ///< loads of four, in this loop
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
