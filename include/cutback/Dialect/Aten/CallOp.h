// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one implementation behind all ops of dialect `aten`.
//
// All ops have the same storage and differ in data only (OpInfo, Schema), so
// they are registered with one model: assembly, verifier, effects and all
// interfaces are those of CallOp, compiled once. The op classes of AtenOps.h
// are typed names: MLIR tells them apart by TypeID as usual, and
// `cast<RematerializableOpInterface>(op)` gives the methods below. (One model
// an op would cost three minutes to compile and 6 MB.)
#ifndef CUTBACK_DIALECT_ATEN_CALLOP_H
#define CUTBACK_DIALECT_ATEN_CALLOP_H

#include "cutback/Dialect/Aten/CallProperties.h"
#include "cutback/Dialect/Aten/OpInfo.h"
#include "cutback/Dialect/Joint/Joint.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace cutback::aten {

/// Resource of the framework's random number generator.
struct RngResource : mlir::SideEffects::Resource::Base<RngResource> {
  llvm::StringRef getName() final { return "aten.rng"; }
};

/// Any op of dialect `aten`: `dyn_cast<CallOp>(op)` works on all of them.
class CallOp
    : public mlir::Op<
          CallOp, mlir::OpTrait::ZeroRegions, mlir::OpTrait::VariadicResults,
          mlir::OpTrait::ZeroSuccessors, mlir::OpTrait::VariadicOperands,
          joint::NamesDoNotCount, mlir::BytecodeOpInterface::Trait,
          mlir::InferTypeOpInterface::Trait,
          mlir::MemoryEffectOpInterface::Trait,
          mlir::ConditionallySpeculatable::Trait, mlir::OpAsmOpInterface::Trait,
          joint::RematerializableOpInterface::Trait,
          joint::FusibleOpInterface::Trait, joint::LowerableOpInterface::Trait,
          joint::CostModelOpInterface::Trait,
          joint::DifferentiableOpInterface::Trait,
          joint::SizeEvaluationOpInterface::Trait,
          joint::FrameworkCallOpInterface::Trait> {
public:
  using Op::Op;
  using Properties = CallProperties;
  using EmitError = llvm::function_ref<mlir::InFlightDiagnostic()>;
  using Effects = llvm::SmallVectorImpl<
      mlir::SideEffects::EffectInstance<mlir::MemoryEffects::Effect>>;

  static bool classof(mlir::Operation *op) {
    return aten::getOpInfo(op->getName()) != nullptr;
  }
  /// Of no op: the model takes each op's name from its class.
  static llvm::StringRef getOperationName() { return "aten.call"; }
  static llvm::ArrayRef<llvm::StringRef> getAttributeNames();

  /// The data of this op.
  const OpInfo &getInfo() {
    return *aten::getOpInfo(getOperation()->getName());
  }
  const Schema &getSchema();
  mlir::ArrayAttr getArgs() { return getProperties().args; }
  mlir::Attribute getNamesAttr() { return getProperties().names; }

  static void build(mlir::OperationState &state, mlir::TypeRange resultTypes,
                    mlir::ValueRange operands, mlir::ArrayAttr args,
                    mlir::ArrayAttr names);
  static mlir::ParseResult parse(mlir::OpAsmParser &parser,
                                 mlir::OperationState &state);
  void print(mlir::OpAsmPrinter &p);
  mlir::LogicalResult verify();
  mlir::LogicalResult fold(llvm::ArrayRef<mlir::Attribute> operands,
                           llvm::SmallVectorImpl<mlir::OpFoldResult> &results);

  // Properties.
  static void populateDefaultProperties(mlir::OperationName name,
                                        CallProperties &properties) {
    properties.name = name.getAsOpaquePointer();
  }
  static mlir::LogicalResult setPropertiesFromAttr(CallProperties &properties,
                                                   mlir::Attribute attr,
                                                   EmitError emitError);
  static mlir::Attribute getPropertiesAsAttr(mlir::MLIRContext *context,
                                             const CallProperties &properties);
  static llvm::hash_code
  computePropertiesHash(const CallProperties &properties);
  static std::optional<mlir::Attribute>
  getInherentAttr(mlir::MLIRContext *context, const CallProperties &properties,
                  llvm::StringRef name);
  static void setInherentAttr(CallProperties &properties, llvm::StringRef name,
                              mlir::Attribute value);
  static void populateInherentAttrs(mlir::MLIRContext *context,
                                    const CallProperties &properties,
                                    mlir::NamedAttrList &attrs);
  static mlir::LogicalResult verifyInherentAttrs(mlir::OperationName name,
                                                 mlir::NamedAttrList &attrs,
                                                 EmitError emitError);
  static mlir::LogicalResult readProperties(mlir::DialectBytecodeReader &reader,
                                            mlir::OperationState &state);
  void writeProperties(mlir::DialectBytecodeWriter &writer);

  // InferTypeOpInterface. Types are compatible when element types are equal
  // and no two static dimensions differ; `none` (an undefined result) is
  // compatible with every type.
  static mlir::LogicalResult
  inferReturnTypes(mlir::MLIRContext *context,
                   std::optional<mlir::Location> location,
                   mlir::ValueRange operands, mlir::DictionaryAttr attributes,
                   mlir::OpaqueProperties properties, mlir::RegionRange regions,
                   llvm::SmallVectorImpl<mlir::Type> &types);
  /// Fills in missing types; given ones are checked by verify().
  static mlir::LogicalResult refineReturnTypes(
      mlir::MLIRContext *context, std::optional<mlir::Location> location,
      mlir::ValueRange operands, mlir::DictionaryAttr attributes,
      mlir::OpaqueProperties properties, mlir::RegionRange regions,
      llvm::SmallVectorImpl<mlir::Type> &types);
  static bool isCompatibleReturnTypes(mlir::TypeRange inferred,
                                      mlir::TypeRange declared);

  // OpAsmOpInterface, MemoryEffectOpInterface, ConditionallySpeculatable. A
  // random op allocates its results in RngResource: it may go when nobody uses
  // it, but is never merged with another nor hoisted. Ordered ops read and
  // write the default resource. All others have no effect.
  void getAsmResultNames(mlir::OpAsmSetValueNameFn setName);
  void getEffects(Effects &effects);
  mlir::Speculation::Speculatability getSpeculatability();

  // RematerializableOpInterface. An alias is what the schema's annotations
  // say; -1 where strides decide (`reshape`, `contiguous`, `to`).
  bool isRecomputable() { return !isRandom() && !hasOrderedEffects(); }
  int64_t getAliasedOperand(unsigned result);
  bool isRandom();
  bool isComputeIntensive() { return getInfo().has(kComputeIntensive); }
  bool hasOrderedEffects() { return getInfo().has(kOrdered); }

  // FusibleOpInterface, CostModelOpInterface, DifferentiableOpInterface.
  joint::FusionKind getFusionKind() { return getInfo().fusion; }
  bool getIterationSpace(llvm::ArrayRef<llvm::ArrayRef<int64_t>> shapes,
                         joint::IterationSpace &space) {
    return getInfo().loops(getOperation(), shapes, space);
  }
  bool hasElement();
  llvm::LogicalResult buildElement(joint::ElementBuilder &elements,
                                   llvm::SmallVectorImpl<mlir::Value> &results);
  double getFlops(llvm::ArrayRef<llvm::ArrayRef<int64_t>> shapes) {
    return getInfo().flops(getOperation(), shapes, getInfo().flopsWeight);
  }
  bool usesMatrixUnits() { return getInfo().has(kMatrixUnits); }
  bool canHaveGradient(unsigned operand);
  llvm::LogicalResult buildVjp(joint::VjpContext &vjp);

  // SizeEvaluationOpInterface.
  bool evaluateSizes(llvm::ArrayRef<mlir::Type> operandTypes,
                     llvm::ArrayRef<int64_t> operandInts,
                     llvm::SmallVectorImpl<mlir::Type> &resultTypes,
                     llvm::SmallVectorImpl<int64_t> &resultInts);

  // FrameworkCallOpInterface.
  llvm::StringRef getPacketName();
  llvm::StringRef getOverloadName();
  mlir::ArrayAttr getCallArgs() { return getArgs(); }
  bool returnsTuple();
  unsigned getNumPositionalArgs();
};

} // namespace cutback::aten

#endif // CUTBACK_DIALECT_ATEN_CALLOP_H
