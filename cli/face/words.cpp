#include "cli/face/words.h"

#include <fmt/format.h>

namespace shardscope::cli {

namespace {

std::string inKorean(const core::Case& one) {
    const core::Plan& plan = one.plan;
    std::string text;
    if (plan.policy == core::UnitPolicy::Fsdp && plan.mesh.pp > 1)
        text = fmt::format("이어진 레이어를 {}개 스테이지로 나눔, 스테이지마다 FSDP2 랭크 {}개", plan.mesh.pp,
                           plan.mesh.dpShard);
    else if (plan.policy == core::UnitPolicy::Fsdp)
        text = plan.mesh.dpReplicate > 1 ? fmt::format("HSDP, FSDP{} 랭크 {}개씩 복제본 {}개", plan.fsdp.flat ? 1 : 2,
                                                       plan.mesh.dpShard, plan.mesh.dpReplicate)
                                         : fmt::format("FSDP{}, 랭크 {}개", plan.fsdp.flat ? 1 : 2, plan.mesh.dpShard);
    else if (plan.policy == core::UnitPolicy::Ddp)
        text = fmt::format("DDP, 랭크 {}개", plan.mesh.dpReplicate);
    else if (plan.schedule == core::StageSchedule::Naive)
        text = fmt::format("이어진 레이어를 {}개 스테이지로 나눔", plan.mesh.pp);
    else
        text = "모두 GPU 하나에";
    if (plan.evaluation) text += ", 순전파만";
    if (plan.microBatches > 1 && plan.evaluation && plan.mesh.pp > 1)
        return text + fmt::format(", 크기 {}인 마이크로배치 {}개가 스테이지를 이어서 지남", one.workload.batch,
                                  plan.microBatches);
    if (plan.microBatches > 1)
        return text + fmt::format(", 크기 {}인 마이크로배치 {}개를 하나씩", one.workload.batch, plan.microBatches);
    return text + (plan.policy == core::UnitPolicy::None ? fmt::format(", 배치 {} 한 번", one.workload.batch)
                                                         : fmt::format(", 랭크마다 배치 {}", one.workload.batch));
}

}  // namespace

std::string planInWords(const core::Case& one, const std::string& language) {
    if (language == "ko") return inKorean(one);
    const core::Plan& plan = one.plan;
    std::string text;
    if (plan.policy == core::UnitPolicy::Fsdp && plan.mesh.pp > 1)
        text = fmt::format("{} stages of contiguous layers, FSDP2 over {} {} in each", plan.mesh.pp, plan.mesh.dpShard,
                           plan.mesh.dpShard == 1 ? "rank" : "ranks");
    else if (plan.policy == core::UnitPolicy::Fsdp)
        text = fmt::format("{}FSDP{} over {} {}",
                           plan.mesh.dpReplicate > 1 ? fmt::format("HSDP, {} replicas of ", plan.mesh.dpReplicate) : "",
                           plan.fsdp.flat ? 1 : 2, plan.mesh.dpShard, plan.mesh.dpShard == 1 ? "rank" : "ranks");
    else if (plan.policy == core::UnitPolicy::Ddp)
        text = fmt::format("DDP over {} {}", plan.mesh.dpReplicate, plan.mesh.dpReplicate == 1 ? "rank" : "ranks");
    else if (plan.schedule == core::StageSchedule::Naive)
        text = fmt::format("{} {} of contiguous layers", plan.mesh.pp, plan.mesh.pp == 1 ? "stage" : "stages");
    else
        text = "everything on one GPU";
    if (plan.microBatches > 1)
        text += fmt::format(
            ", {} micro-batches of {} {}", plan.microBatches, one.workload.batch,
            plan.evaluation && plan.mesh.pp > 1 ? "that follow each other through the stages" : "one after another");
    else if (plan.policy != core::UnitPolicy::None)
        text += fmt::format(", a batch of {} per rank", one.workload.batch);
    else
        text += fmt::format(", one batch of {}", one.workload.batch);
    if (plan.evaluation) text += ", forward alone";
    return text;
}

std::string setupInWords(const Report& report, const std::string& language) {
    if (language != "ko")
        return fmt::format("{}, {}, {} {}s a step", report.modelName, report.cluster.name, report.globalBatch,
                           report.sampleWord);
    const std::string word = report.sampleWord == "image"      ? "이미지"
                             : report.sampleWord == "sequence" ? "시퀀스"
                                                               : "샘플";
    return fmt::format("{}, {}, 스텝마다 {} {}개", report.modelName, report.cluster.name, word, report.globalBatch);
}

std::string unusedInWords(const std::string& key) {
    return fmt::format("  not used: {} changes nothing here\n", key);
}

std::string caveatInWords(const std::string& caveat, const std::string& language) {
    return (language == "ko" ? "전제: " : "rests on: ") + caveat;
}

std::string ranksInWords(const ClassReport& ranks) {
    if (ranks.ranks == 1) return fmt::format("is rank {} ({})", ranks.firstRank, ranks.name);
    return fmt::format("are ranks {} to {} ({})", ranks.firstRank, ranks.firstRank + ranks.ranks - 1, ranks.name);
}

}  // namespace shardscope::cli
