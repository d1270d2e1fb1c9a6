#include "core/model/program_builder.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace shardscope::core {
namespace {

constexpr std::int64_t kLargest = std::int64_t{1} << 62;

bool fits(const Shape& shape, DType dtype) {
    std::int64_t bytes = sizeOf(dtype);
    for (std::int64_t d : shape) {
        assert(d > 0);
        if (__builtin_mul_overflow(bytes, d, &bytes) || bytes > kLargest) return false;
    }
    return true;
}

}  // namespace

ProgramBuilder::ProgramBuilder(std::string name, std::string type, DType dtype) : m_dtype(dtype), m_product(dtype) {
    m_program.name = std::move(name);
    m_program.modules.push_back({"", std::move(type)});
}

ProgramBuilder::ProgramBuilder(std::string name, std::string type, const Workload& workload)
    : ProgramBuilder(std::move(name), std::move(type), workload.autocast ? DType::F32 : workload.dtype) {
    m_product = workload.dtype;
    m_cpuRules = workload.cpuRules;
}

ProgramBuilder::Scope ProgramBuilder::in(std::string_view name, std::string_view type) {
    auto& modules = m_program.modules;
    const auto known = std::find_if(modules.begin(), modules.end(), [&](const auto& m) { return m.name == name; });
    const auto index = static_cast<std::uint16_t>(known - modules.begin());
    if (known == modules.end()) modules.push_back({std::string(name), std::string(type)});
    return Scope(*this, index);
}

TensorId ProgramBuilder::append(Tensor tensor, bool needsGradient) {
    if (!fits(tensor.shape, tensor.dtype)) {
        m_tooLarge = true;
        tensor.shape.assign(tensor.shape.size(), 1);
        tensor.strides.clear();
    }
    const int times = m_names[tensor.name]++;
    if (times > 0) tensor.name += "#" + std::to_string(times + 1);
    const TensorId id(m_program.tensors.size());
    if (!tensor.storage.valid()) tensor.storage = id;
    m_program.tensors.push_back(std::move(tensor));
    m_needsGradient.push_back(needsGradient ? 1 : 0);
    m_gradients.emplace_back();
    return id;
}

TensorId ProgramBuilder::input(Shape shape, DType dtype) {
    assert(!m_input.valid());
    m_input = append({.name = "input",
                      .shape = std::move(shape),
                      .dtype = dtype,
                      .role = TensorRole::Input,
                      .storage = {},
                      .strides = {}},
                     true);
    return m_input;
}

TensorId ProgramBuilder::batch(std::uint32_t slot, Shape shape, DType dtype) {
    return append({.name = slot == 0 ? "batch" : "labels",
                   .shape = std::move(shape),
                   .dtype = dtype,
                   .role = TensorRole::Batch,
                   .slot = slot,
                   .storage = {},
                   .strides = {}},
                  false);
}

TensorId ProgramBuilder::shared(std::string name, Shape shape, DType dtype) {
    return append({.name = std::move(name),
                   .shape = std::move(shape),
                   .dtype = dtype,
                   .role = TensorRole::Shared,
                   .storage = {},
                   .strides = {}},
                  false);
}

TensorId ProgramBuilder::sharedWithGradient(const std::string& name, Shape shape, DType dtype) {
    const TensorId x = shared(name, shape, dtype);
    m_needsGradient[x.index()] = 1;
    m_sums.emplace_back(x, shared(name + ".gradient", std::move(shape), dtype));
    return x;
}

TensorId ProgramBuilder::share(TensorId x, const std::string& name) {
    x = owned(x);
    m_program.tensors[x.index()].role = TensorRole::Shared;
    m_program.tensors[x.index()].name = name;
    const TensorId gradient = shared(name + ".gradient", shapeOf(x), at(x).dtype);
    m_gradients[x.index()] = gradient;
    return x;
}

TensorId ProgramBuilder::parameter(std::string_view name, const Shape& shape) {
    for (TensorId id : m_parameters)
        if (at(id).name == name) return id;
    m_parameters.push_back(append({.name = std::string(name),
                                   .shape = shape,
                                   .dtype = m_dtype,
                                   .role = TensorRole::Parameter,
                                   .slot = static_cast<std::uint32_t>(m_parameters.size()),
                                   .storage = {},
                                   .strides = {}},
                                  true));
    return m_parameters.back();
}

TensorId ProgramBuilder::tensor(std::string_view name, Shape shape, DType dtype) {
    const std::string& module = m_program.modules[m_module].name;
    std::string full = module.empty() ? std::string(name) : module + "." + std::string(name);
    return append({.name = std::move(full), .shape = std::move(shape), .dtype = dtype, .storage = {}, .strides = {}},
                  false);
}

TensorId ProgramBuilder::tensorLike(std::string_view name, TensorId like, DType dtype) {
    const TensorId id = tensor(name, shapeOf(like), dtype);
    if (m_tooLarge) return id;
    Strides strides = denseStrides(shapeOf(like), stridesOf(at(like)));
    if (!isContiguous(shapeOf(like), strides)) m_program.tensors[id.index()].strides = std::move(strides);
    return id;
}

TensorId ProgramBuilder::viewOf(TensorId x, std::string_view kind, Shape shape, Strides strides, std::int64_t offset) {
    const Tensor& base = at(x);
    Tensor view{.name = base.name + "." + std::string(kind),
                .shape = std::move(shape),
                .dtype = base.dtype,
                .storage = base.storage,
                .strides = {},
                .offset = offset};
    if (!isContiguous(view.shape, strides)) view.strides = std::move(strides);
    return append(std::move(view), false);
}

TensorId ProgramBuilder::reshape(TensorId x, const Shape& shape) {
    if (shapeOf(x) == shape) return x;
    if (m_tooLarge) return tensor("reshaped", shape, at(x).dtype);
    assert(elementsOf(shapeOf(x)) == elementsOf(shape));
    auto strides = viewStrides(shapeOf(x), stridesOf(at(x)), shape);
    if (!strides) return reshape(copyOf(x, "clone", at(x).dtype, false), shape);
    const TensorId view = viewOf(x, "view", shape, std::move(*strides), at(x).offset);
    record({view}, {x}, [this, x, view] { addGradient(x, reshape(gradientOf(view), shapeOf(x))); });
    return view;
}

TensorId ProgramBuilder::permute(TensorId x, const std::vector<std::size_t>& order) {
    const Strides old = stridesOf(at(x));
    Shape shape(order.size());
    Strides strides(order.size());
    std::vector<std::size_t> inverse(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        shape[i] = shapeOf(x)[order[i]];
        strides[i] = old[order[i]];
        inverse[order[i]] = i;
    }
    const TensorId view = viewOf(x, "permuted", std::move(shape), std::move(strides), at(x).offset);
    record({view}, {x}, [this, x, view, inverse] { addGradient(x, permute(gradientOf(view), inverse)); });
    return view;
}

TensorId ProgramBuilder::transpose(TensorId x, std::size_t a, std::size_t b) {
    std::vector<std::size_t> order(shapeOf(x).size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::swap(order[a], order[b]);
    return permute(x, order);
}

TensorId ProgramBuilder::narrow(TensorId x, std::size_t dimension, std::int64_t begin, std::int64_t size) {
    Strides strides = stridesOf(at(x));
    Shape shape = shapeOf(x);
    shape[dimension] = size;
    const std::int64_t offset = at(x).offset + begin * strides[dimension];
    return viewOf(x, "slice", std::move(shape), std::move(strides), offset);
}

TensorId ProgramBuilder::select(TensorId x, std::size_t dimension, std::int64_t index) {
    const auto view = [this, dimension, index](TensorId of) {
        Strides strides = stridesOf(at(of));
        Shape shape = shapeOf(of);
        const std::int64_t offset = at(of).offset + index * strides[dimension];
        strides.erase(strides.begin() + static_cast<std::ptrdiff_t>(dimension));
        shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(dimension));
        return viewOf(of, "selected", std::move(shape), std::move(strides), offset);
    };
    const TensorId selected = view(x);
    record({selected}, {x}, [this, x, selected, view] {
        const TensorId dx = tensor("d_select", shapeOf(x), at(x).dtype);
        emit(KernelKind::SliceGrad, "select_backward", {gradientOf(selected)}, {dx, view(dx)});
        addGradient(x, dx);
    });
    return selected;
}

std::vector<TensorId> ProgramBuilder::split(TensorId x, std::size_t dimension, const std::vector<std::int64_t>& sizes) {
    const auto views = [this, dimension, sizes](TensorId of) {
        std::vector<TensorId> parts;
        std::int64_t begin = 0;
        for (std::int64_t size : sizes) {
            parts.push_back(narrow(of, dimension, begin, size));
            begin += size;
        }
        return parts;
    };
    std::vector<TensorId> parts = views(x);
    record(parts, {x}, [this, x, parts, views] {
        std::vector<TensorId> gradients;
        for (TensorId part : parts) {
            assert(gradientOf(part).valid());
            gradients.push_back(gradientOf(part));
        }
        const TensorId dx = tensor("d_split", shapeOf(x), at(x).dtype);
        std::vector<TensorId> outputs = views(dx);
        outputs.insert(outputs.begin(), dx);
        emit(KernelKind::Concat, "cat", std::move(gradients), std::move(outputs));
        addGradient(x, dx);
    });
    return parts;
}

TensorId ProgramBuilder::slice(TensorId x, std::size_t dimension, std::int64_t begin, std::int64_t size) {
    const TensorId view = narrow(x, dimension, begin, size);
    record({view}, {x}, [=, this] {
        const TensorId dx = tensor("d_slice", shapeOf(x), at(x).dtype);
        emit(KernelKind::SliceGrad, "slice_backward", {gradientOf(view)}, {dx, narrow(dx, dimension, begin, size)});
        addGradient(x, dx);
    });
    return view;
}

TensorId ProgramBuilder::concat(const std::vector<TensorId>& parts, std::size_t dimension) {
    const auto views = [this, parts, dimension](TensorId of) {
        std::vector<TensorId> pieces;
        std::int64_t begin = 0;
        for (TensorId part : parts) {
            pieces.push_back(narrow(of, dimension, begin, shapeOf(part)[dimension]));
            begin += shapeOf(part)[dimension];
        }
        return pieces;
    };
    Shape shape = shapeOf(parts.front());
    shape[dimension] = 0;
    for (TensorId part : parts) shape[dimension] += shapeOf(part)[dimension];
    const TensorId y = tensor("cat", std::move(shape), at(parts.front()).dtype);
    std::vector<TensorId> outputs = views(y);
    outputs.insert(outputs.begin(), y);
    emit(KernelKind::Concat, "cat", parts, std::move(outputs));
    record({y}, parts, [this, y, parts, views] {
        const std::vector<TensorId> gradients = views(gradientOf(y));
        for (std::size_t i = 0; i < parts.size(); ++i) addGradient(parts[i], gradients[i]);
    });
    return y;
}

TensorId ProgramBuilder::expand(TensorId x, std::size_t dimension, std::int64_t count) {
    assert(shapeOf(x)[dimension] == 1);
    if (count == 1) return x;
    Strides strides = stridesOf(at(x));
    Shape shape = shapeOf(x);
    shape[dimension] = count;
    strides[dimension] = 0;
    const TensorId view = viewOf(x, "expanded", std::move(shape), std::move(strides), at(x).offset);
    record({view}, {x}, [this, x, view] {
        const TensorId dx = tensor("d_expand", shapeOf(x), at(x).dtype);
        emit(KernelKind::Elementwise, "sum", {gradientOf(view)}, {dx});
        addGradient(x, dx);
    });
    return view;
}

Kernel& ProgramBuilder::emit(KernelKind kind, std::string_view op, std::vector<TensorId> inputs,
                             std::vector<TensorId> outputs) {
    Kernel kernel;
    kernel.kind = kind;
    kernel.op = op;
    kernel.module = m_module;
    kernel.inputs = std::move(inputs);
    kernel.outputs = std::move(outputs);
    if (m_inBackward) kernel.node = m_inNode ? m_node : ++m_node;
    auto& list = m_inBackward ? m_program.backward : m_program.forward;
    list.push_back(std::move(kernel));
    return list.back();
}

void ProgramBuilder::record(const std::vector<TensorId>& outputs, const std::vector<TensorId>& inputs,
                            std::function<void()> backward) {
    if (m_inBackward) return;
    if (std::none_of(inputs.begin(), inputs.end(), [this](TensorId id) { return needsGradient(id); })) return;
    for (TensorId id : outputs) m_needsGradient[id.index()] = 1;
    m_tape.push_back({outputs, std::move(backward), m_module});
}

void ProgramBuilder::addGradient(TensorId of, TensorId gradient) {
    if (!needsGradient(of)) return;
    if (m_inNode) {
        m_results.emplace_back(of, gradient);
        return;
    }
    const TensorId sum = m_gradients[of.index()];  // a copy: new tensors move the table
    if (!sum.valid()) {
        m_gradients[of.index()] = gradient;
        return;
    }
    const TensorId total = tensorLike("gradient_sum", sum, at(sum).dtype);
    emit(KernelKind::Add, "add", {sum, gradient}, {total});
    m_gradients[of.index()] = total;
}

TensorId ProgramBuilder::owned(TensorId id) {
    const Tensor& t = at(id);
    const Tensor& owner = at(t.storage);
    const bool whole = t.strides.empty() && t.offset == 0 && owner.strides.empty() && t.bytes() == owner.bytes();
    return whole && owner.role == TensorRole::Intermediate ? t.storage : clone(id);
}

Result<Program> ProgramBuilder::finish(TensorId output) {
    output = owned(output);
    m_program.tensors[output.index()].role = TensorRole::Output;

    m_inBackward = true;
    m_module = 0;
    const TensorId outputGradient = append({.name = "output_gradient",
                                            .shape = shapeOf(output),
                                            .dtype = at(output).dtype,
                                            .role = TensorRole::OutputGradient,
                                            .storage = {},
                                            .strides = {}},
                                           false);
    addGradient(output, outputGradient);
    for (auto node = m_tape.rbegin(); node != m_tape.rend(); ++node) {
        const auto& outputs = node->outputs;
        if (std::none_of(outputs.begin(), outputs.end(), [this](TensorId id) { return gradientOf(id).valid(); }))
            continue;
        m_module = node->module;
        m_inNode = true;
        ++m_node;
        node->backward();
        m_inNode = false;
        for (const auto& [of, gradient] : m_results) addGradient(of, gradient);
        m_results.clear();
    }
    m_module = 0;
    if (m_input.valid() && gradientOf(m_input).valid()) {
        const TensorId gradient = owned(gradientOf(m_input));
        m_program.tensors[gradient.index()].role = TensorRole::InputGradient;
    }
    for (const auto& [x, sum] : m_sums)
        if (gradientOf(x).valid()) emit(KernelKind::Add, "add_", {sum, gradientOf(x)}, {sum});
    for (TensorId parameter : m_parameters) {
        if (!gradientOf(parameter).valid()) continue;
        const TensorId gradient = owned(gradientOf(parameter));
        m_program.tensors[gradient.index()].role = TensorRole::ParameterGradient;
        m_program.tensors[gradient.index()].slot = at(parameter).slot;
    }
    if (m_tooLarge)
        return fail(ErrorCode::Input, "a tensor or a kernel of " + m_program.name + " exceeds 2^62 bytes or FLOPs", {},
                    "use a smaller batch, sequence or model");
    fillTraffic(m_program);
    return std::move(m_program);
}

}  // namespace shardscope::core
