// Attention of one head, and the products in it: of 17 x 17 x 64 floats, a call of oneDNN takes longer than the work.

#include "runtime/cpu/vectors/rows.h"

namespace shardscope::runtime::cpu::SHARDSCOPE_VECTORS {

namespace {

/// Rows of c[m,n] that are made together, of two Lanes each: as many sums as there are registers for.
constexpr int kTileRows = kBytes == 64 ? 12 : 6;
constexpr std::int64_t kPanel = 2 * kLanes;
constexpr std::uintptr_t kLine = 64;  ///< bytes of a line of the caches, where scratch memory begins

std::int64_t roundedUp(std::int64_t count) {
    return (count + kLanes - 1) / kLanes * kLanes;
}

std::int64_t panelWidth(std::int64_t n, std::int64_t begin) {
    return n - begin > kLanes ? kPanel : kLanes;
}

// Panels of b[k,n]: kPanel columns each, the last kLanes where that is enough; of each its k rows without gaps, zero
// beyond n.

void packRows(const float* b, std::int64_t row, std::int64_t k, std::int64_t n, float* to) {
    for (std::int64_t begin = 0; begin < n; begin += kPanel) {
        const std::int64_t width = panelWidth(n, begin), there = n - begin < width ? n - begin : width;
        for (std::int64_t l = 0; l < k; ++l, to += width) {
            const float* from = b + l * row + begin;
            if (there == width) {
                for (std::int64_t c = 0; c < width; c += kLanes) store(to + c, load(from + c));
                continue;
            }
            for (std::int64_t c = 0; c < width; ++c) to[c] = c < there ? from[c] : 0.0f;
        }
    }
}

#if defined(__AVX512F__)
/// to[16,16], rows so far apart = the transposed of from[16,16], whose rows `there` on are taken as zero.
[[gnu::always_inline]] inline void transpose(const float* from, std::int64_t row, std::int64_t there, float* to,
                                             std::int64_t toRow) {
    Lanes r[kLanes];
    for (std::int64_t i = 0; i < kLanes; ++i) r[i] = i < there ? load(from + i * row) : Lanes{};
    // Blocks of 8, 4, 2, 1 change places across the diagonal.
    const auto exchange = [&](std::int64_t step, const auto& upper, const auto& lower) {
        for (std::int64_t i = 0; i < kLanes; ++i) {
            if ((i & step) != 0) continue;
            const Lanes a = r[i], b = r[i + step];
            upper(a, b, r[i]);
            lower(a, b, r[i + step]);
        }
    };
#define SHARDSCOPE_SHUFFLE(...) \
    [](const Lanes& a, const Lanes& b, Lanes& made) { made = __builtin_shufflevector(a, b, __VA_ARGS__); }
    exchange(8, SHARDSCOPE_SHUFFLE(0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23),
             SHARDSCOPE_SHUFFLE(8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31));
    exchange(4, SHARDSCOPE_SHUFFLE(0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27),
             SHARDSCOPE_SHUFFLE(4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31));
    exchange(2, SHARDSCOPE_SHUFFLE(0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29),
             SHARDSCOPE_SHUFFLE(2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31));
    exchange(1, SHARDSCOPE_SHUFFLE(0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30),
             SHARDSCOPE_SHUFFLE(1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31));
#undef SHARDSCOPE_SHUFFLE
    for (std::int64_t i = 0; i < kLanes; ++i) store(to + i * toRow, r[i]);
}
#endif

/// The same of a b that is stored transposed, [n,k].
void packColumns(const float* b, std::int64_t row, std::int64_t k, std::int64_t n, float* to) {
    for (std::int64_t begin = 0; begin < n; begin += kPanel) {
        const std::int64_t width = panelWidth(n, begin);
        for (std::int64_t half = 0; half < width; half += kLanes) {
            const std::int64_t first = begin + half, there = n - first < kLanes ? n - first : kLanes;
            const float* from = b + first * row;
            std::int64_t l = 0;
#if defined(__AVX512F__)
            for (; l + kLanes <= k; l += kLanes) transpose(from + l, row, there, to + l * width + half, width);
#endif
            for (; l < k; ++l)
                for (std::int64_t c = 0; c < kLanes; ++c) to[l * width + half + c] = c < there ? from[c * row + l] : 0;
        }
        to += k * width;
    }
}

/// c = alpha a b, or c + alpha a b, with b in panels. a's element (i, l) is a[i * row + l * step].
struct Product {
    std::int64_t m = 0, n = 0, k = 0;
    const float* a = nullptr;
    std::int64_t row = 0, step = 1;
    const float* panels = nullptr;
    HeadTarget c;
    float alpha = 1;
    bool add = false;
};

/// to = values, or to + values, as many as are left.
[[gnu::always_inline]] inline void put(Lanes values, float* to, std::int64_t left, bool add) {
    if (left >= kLanes) {
        store(to, add ? load(to) + values : values);
        return;
    }
    float some[kLanes];
    store(some, values);
    for (std::int64_t i = 0; i < left; ++i) to[i] = add ? to[i] + some[i] : some[i];
}

/// One tile: rows from `first` on, the columns of the panel, of which `there` are c's.
template <int Rows, int Registers>
void tile(const Product& p, std::int64_t first, const float* panel, std::int64_t column, std::int64_t there) {
    Lanes sums[Rows * Registers];
    unrolled<Rows * Registers>([&](int i) { sums[i] = Lanes{}; });
    const float* a = p.a + first * p.row;
    for (std::int64_t l = 0; l < p.k; ++l, a += p.step, panel += Registers * kLanes) {
        Lanes b[Registers];
        unrolled<Registers>([&](int j) { b[j] = load(panel + j * kLanes); });
        unrolled<Rows * Registers>([&](int i) { sums[i] += a[i / Registers * p.row] * b[i % Registers]; });
    }
    float* c = p.c.data + first * p.c.row + column;
    unrolled<Rows * Registers>([&](int i) {
        float* to = c + i / Registers * p.c.row + i % Registers * kLanes;
        const std::int64_t left = there - i % Registers * kLanes;
        put(sums[i] * p.alpha, to, left, p.add);
    });
}

template <int Rows>
void tileOf(int rows, const Product& p, std::int64_t first, const float* panel, std::int64_t column,
            std::int64_t there) {
    if (rows == Rows) {
        if (panelWidth(p.n, column) == kPanel)
            tile<Rows, 2>(p, first, panel, column, there);
        else
            tile<Rows, 1>(p, first, panel, column, there);
        return;
    }
    if constexpr (Rows > 1) tileOf<Rows - 1>(rows, p, first, panel, column, there);
}

/// `writable`: columns of c that may be written, n or n rounded up to kLanes.
void multiply(const Product& p, std::int64_t writable) {
    const std::int64_t tiles = (p.m + kTileRows - 1) / kTileRows;
    const float* panel = p.panels;
    for (std::int64_t column = 0; column < p.n; column += kPanel) {
        for (std::int64_t t = 0; t < tiles; ++t) {
            const std::int64_t first = t * p.m / tiles;
            tileOf<kTileRows>(static_cast<int>((t + 1) * p.m / tiles - first), p, first, panel, column,
                              writable - column);
        }
        panel += p.k * panelWidth(p.n, column);
    }
}

struct Scratch {
    float *panels, *p, *dp;
};

std::int64_t panelFloats(const HeadShape& of) {
    const std::int64_t longest = of.keys > of.queries ? of.keys : of.queries;
    const std::int64_t ofColumns = roundedUp(of.keys) * of.width, ofRows = longest * roundedUp(of.width);
    return ofColumns > ofRows ? ofColumns : ofRows;
}

Scratch scratchIn(const HeadShape& of, float* memory) {
    const auto at = reinterpret_cast<std::uintptr_t>(memory);
    float* aligned = memory + (kLine - at % kLine) % kLine / sizeof(float);
    float* p = aligned + roundedUp(panelFloats(of));
    return {aligned, p, p + of.queries * roundedUp(of.keys)};
}

/// p[queries, keys rounded up] = scale q k^T
void scoresOf(const HeadShape& of, HeadRows q, HeadRows k, const Scratch& in) {
    const std::int64_t row = roundedUp(of.keys);
    packColumns(k.data, k.row, of.width, of.keys, in.panels);
    multiply({of.queries, of.keys, of.width, q.data, q.row, 1, in.panels, {in.p, row}, of.scale, false}, row);
}

/// c[m, width] = scale a[m,k] b[k, width] with b as it lies.
void timesRows(const HeadShape& of, Product product, HeadRows b, const Scratch& in) {
    packRows(b.data, b.row, product.k, of.width, in.panels);
    product.n = of.width;
    product.panels = in.panels;
    multiply(product, of.width);
}

std::int64_t seenBy(const HeadShape& of, std::int64_t query) {
    return of.causal && query + 1 < of.keys ? query + 1 : of.keys;
}

/// row = e^(row - most), zero from `seen` to the row's rounded end; returns the sum.
float exponentials(float* row, std::int64_t seen, std::int64_t end, float most) {
    Lanes sum{};
    for (std::int64_t t = 0; t < end; t += kLanes) {
        const Lanes e = within(expOf(load(row + t) - most), t, seen, 0);
        store(row + t, e);
        sum += e;
    }
    return sumOf(sum);
}

/// The largest of [0, seen).
float largestIn(const float* row, std::int64_t seen) {
    const float none = -__builtin_inff();
    Lanes largest = Lanes{} + none;
    for (std::int64_t t = 0; t < seen; t += kLanes) largest = larger(largest, within(load(row + t), t, seen, none));
    return largestOf(largest);
}

std::int64_t headScratch(const HeadShape& of) {
    return static_cast<std::int64_t>(kLine / sizeof(float)) + roundedUp(panelFloats(of)) +
           of.queries * roundedUp(of.keys);
}

void head(const HeadShape& of, HeadRows q, HeadRows k, HeadRows v, HeadTarget out, float* logsumexp, float* scratch) {
    const Scratch in = scratchIn(of, scratch);
    const std::int64_t row = roundedUp(of.keys);
    scoresOf(of, q, k, in);
    for (std::int64_t s = 0; s < of.queries; ++s) {
        float* p = in.p + s * row;
        const std::int64_t seen = seenBy(of, s);
        const float most = largestIn(p, seen);
        const float sum = exponentials(p, seen, row, most), share = 1 / sum;
        for (std::int64_t t = 0; t < row; t += kLanes) store(p + t, load(p + t) * share);
        logsumexp[s] = static_cast<float>(static_cast<double>(most) + __builtin_log(static_cast<double>(sum)));
    }
    timesRows(of, {of.queries, 0, of.keys, in.p, row, 1, nullptr, out, 1, false}, v, in);
}

void headGrad(const HeadShape& of, HeadRows q, HeadRows k, HeadRows v, const HeadGradients& gradients, float* scratch) {
    const Scratch in = scratchIn(of, scratch);
    const HeadRows dout = gradients.dout, out = gradients.out;
    const std::int64_t row = roundedUp(of.keys);
    scoresOf(of, q, k, in);
    for (std::int64_t s = 0; s < of.queries; ++s)
        exponentials(in.p + s * row, seenBy(of, s), row, gradients.logsumexp[s]);
    timesRows(of, {of.keys, 0, of.queries, in.p, 1, row, nullptr, gradients.dv, 1, gradients.add}, dout, in);
    packColumns(v.data, v.row, of.width, of.keys, in.panels);
    multiply({of.queries, of.keys, of.width, dout.data, dout.row, 1, in.panels, {in.dp, row}, 1, false}, row);
    for (std::int64_t s = 0; s < of.queries; ++s) {
        // The sum over keys of p dp is out . dout, whatever the keys.
        const float *o = out.data + s * out.row, *d = dout.data + s * dout.row;
        const auto inner = static_cast<float>(sumOver(of.width, [&](std::int64_t i, auto kind) {
            using T = typename decltype(kind)::Type;
            return load<T>(o + i) * load<T>(d + i);
        }));
        float *dp = in.dp + s * row, *p = in.p + s * row;
        for (std::int64_t t = 0; t < row; t += kLanes) store(dp + t, load(p + t) * (load(dp + t) - inner));
    }
    timesRows(of, {of.queries, 0, of.keys, in.dp, row, 1, nullptr, gradients.dq, of.scale, false}, k, in);
    timesRows(of, {of.keys, 0, of.queries, in.dp, 1, row, nullptr, gradients.dk, of.scale, gradients.add}, q, in);
}

}  // namespace

const Loops& compiledLoops() {
    static constexpr Loops kLoops{layerNorm, layerNormGrad, add,         addToRows, columnSums, adam,
                                  widen,     narrow,        headScratch, head,      headGrad};
    return kLoops;
}

}  // namespace shardscope::runtime::cpu::SHARDSCOPE_VECTORS
