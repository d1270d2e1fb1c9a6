#include "traces/formats/picture_text.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

namespace shardscope::formats {

const PictureText& englishText() {
    static const PictureText text = {
        .language = "en",
        .works = "works",
        .headline = "each GPU works {}% of the step",
        .headlineRange = "the GPUs work {}% to {}% of the step",
        .runHeadline = "each rank works {}% of the step",
        .runHeadlineRange = "the ranks work {}% to {}% of the step",
        .transferShare = ", {}% exposed transfers",
        .waitShare = ", {}% waiting",
        .step = "step {}",
        .rank = "GPU {}",
        .moreRanks = "and {} more, not drawn",
        .memory = "memory",
        .peak = "peak {}",
        .capacity = "capacity {}",
        .phaseOf = "{} {}",
        .looks = {"forward", "backward", "optimizer", "copy between compute", "all-gather", "reduce-scatter",
                  "send, receive", "other collective", "copy", "GPU waits for a transfer",
                  "waiting: the other side has not arrived", "idle: nothing to do", ""},
        .memoryCategories = {"sharded parameters", "unsharded parameters", "sharded gradients", "unsharded gradients",
                             "gather buffers", "reduce buffers", "optimizer state", "activations", "workspace"},
        .waits = {"all-gather of {}", "reduce-scatter of {}", "reduce-scatter of {} holds the buffer",
                  "all-reduce of {}", "collective", "waits for the stage before", "waits for the stage after",
                  "a peer is late", "host launches", "host runs the optimizer", "copy", "data loading", "host blocks",
                  "nothing left to do", "waits"}};
    return text;
}

const PictureText& koreanText() {
    static const PictureText text = {
        .language = "ko",
        .works = "가동",
        .headline = "각 GPU는 스텝의 {}% 동안 일한다",
        .headlineRange = "GPU들은 스텝의 {}%~{}% 동안 일한다",
        .runHeadline = "각 랭크는 스텝의 {}% 동안 일한다",
        .runHeadlineRange = "랭크들은 스텝의 {}%~{}% 동안 일한다",
        .transferShare = ", {}%는 드러난 전송",
        .waitShare = ", {}%는 대기",
        .step = "스텝 {}",
        .rank = "GPU {}",
        .moreRanks = "그 밖의 {}개는 그리지 않음",
        .memory = "메모리",
        .peak = "최대 {}",
        .capacity = "용량 {}",
        .phaseOf = "{} {}",
        .looks = {"순전파", "역전파", "옵티마이저", "연산 사이의 복사", "all-gather (파라미터 모으기)",
                  "reduce-scatter (그래디언트 합치기)", "보내기·받기", "다른 집합 통신", "복사", "GPU가 전송을 기다림",
                  "대기: 상대가 아직 오지 않음", "유휴: 할 일이 없음", ""},
        .memoryCategories = {"나뉜 파라미터", "모은 파라미터", "나뉜 그래디언트", "전체 그래디언트", "all-gather 버퍼",
                             "reduce-scatter 버퍼", "옵티마이저 상태", "액티베이션", "작업 공간"},
        .waits = {"{}의 all-gather", "{}의 reduce-scatter", "{}의 reduce-scatter가 버퍼를 잡고 있음", "{}의 all-reduce",
                  "집합 통신", "앞 스테이지를 기다림", "뒤 스테이지를 기다림", "상대가 늦음", "호스트 실행 지연",
                  "호스트의 옵티마이저", "복사", "데이터 읽기", "호스트가 막힘", "남은 일이 없음", "기다림"}};
    return text;
}

namespace {

std::string threeFigures(double value) {
    const double size = std::abs(value);
    return fmt::format("{:.{}f}", value, size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
}

}  // namespace

std::string bytesInWords(std::int64_t bytes) {
    const double size = std::abs(static_cast<double>(bytes));
    constexpr std::array<std::string_view, 5> kUnits = {" B", " KiB", " MiB", " GiB", " TiB"};
    std::size_t unit = 0;
    double value = static_cast<double>(bytes);
    for (double shown = size; shown >= 999.5 && unit + 1 < kUnits.size(); shown /= 1024, value /= 1024) ++unit;
    if (unit == 0) return fmt::format("{} B", bytes);
    return threeFigures(value) + std::string(kUnits[unit]);
}

std::string timeInWords(std::int64_t ns) {
    const double value = static_cast<double>(ns);
    const double size = std::abs(value);
    if (size >= 999.5e6) return threeFigures(value / 1e9) + " s";
    if (size >= 999.5e3) return threeFigures(value / 1e6) + " ms";
    if (size >= 1000) return threeFigures(value / 1e3) + " us";
    return fmt::format("{} ns", ns);
}

std::string fill(std::string_view pattern, std::string_view a, std::string_view b) {
    std::string text;
    std::size_t from = 0;
    for (const std::string_view value : {a, b}) {
        const std::size_t at = pattern.find("{}", from);
        if (at == std::string_view::npos) break;
        text += pattern.substr(from, at - from);
        text += value;
        from = at + 2;
    }
    text += pattern.substr(from);
    return text;
}

}  // namespace shardscope::formats
