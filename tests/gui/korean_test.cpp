// A Korean window over all samples and a set of broken inputs: no sentence of English in it. Names stay as they are:
// of collectives, keys, parameters, modules and kernels, and of what a constant's source is called.

#include <QDockWidget>
#include <QLabel>
#include <QLineEdit>
#include <QTableWidget>
#include <QTemporaryDir>
#include <QXmlStreamReader>
#include <set>

#include "cli/face/prediction.h"
#include "gui/view/details_panel.h"
#include "gui/view/difference_panel.h"
#include "gui/view/knob_panel.h"
#include "gui/view/messages.h"
#include "gui/view/sweep_panel.h"
#include "gui/view/words.h"
#include "gui/window/start_page.h"
#include "tests/gui/open_window.h"
#include "tests/gui/small_run.h"

namespace shardscope::gui {
namespace {

/// Words that may stand beside each other: the field's names, which Korean texts write in English too.
const std::set<QString>& namesOfTheField() {
    static const std::set<QString> kNames = {
        QStringLiteral("all"),     QStringLiteral("gather"),  QStringLiteral("reduce"), QStringLiteral("scatter"),
        QStringLiteral("ring"),    QStringLiteral("naive"),   QStringLiteral("fsdp"),   QStringLiteral("single"),
        QStringLiteral("max"),     QStringLiteral("causal"),  QStringLiteral("none"),   QStringLiteral("float"),
        QStringLiteral("us"),      QStringLiteral("ms"),      QStringLiteral("ns"),     QStringLiteral("root"),
        QStringLiteral("true"),    QStringLiteral("false"),   QStringLiteral("shard"),  QStringLiteral("replicate"),
        QStringLiteral("sgd"),     QStringLiteral("adam"),    QStringLiteral("adamw"),  QStringLiteral("foreach"),
        QStringLiteral("fused"),   QStringLiteral("default"), QStringLiteral("always"), QStringLiteral("never"),
        QStringLiteral("unset"),   QStringLiteral("flash"),   QStringLiteral("math"),   QStringLiteral("simple"),
        QStringLiteral("hugging"), QStringLiteral("ddp"),     QStringLiteral("every"),  QStringLiteral("face"),
        QStringLiteral("llama"),   QStringLiteral("mistral"), QStringLiteral("qwen"),   QStringLiteral("gpt"),
        QStringLiteral("hidden"),  QStringLiteral("blocks"),  QStringLiteral("layers"), QStringLiteral("torchtitan")};
    return kNames;
}

void addWords(std::set<QString>& words, std::string_view name) {
    static const QRegularExpression between(QStringLiteral("[^A-Za-z]+"));
    for (const QString& word : toQString(name).split(between, Qt::SkipEmptyParts)) words.insert(word);
}

/// Names in the answer: modules, parameters, tensors, kernels.
std::set<QString> namesIn(const Answer& answer) {
    std::set<QString> words;
    for (const cli::PlanReport& plan : answer.report.plans) {
        for (const core::Layer& layer : plan.model->layers) addWords(words, layer.name);
        for (const core::Parameter& parameter : plan.model->parameters) addWords(words, parameter.name);
        for (const core::Program& program : plan.model->programs) {
            for (const core::Tensor& tensor : program.tensors) addWords(words, tensor.name);
            for (const auto* kernels : {&program.forward, &program.backward})
                for (const core::Kernel& kernel : *kernels) {
                    addWords(words, kernel.op);
                    addWords(words, core::nameOf(kernel.kind));
                }
        }
        addWords(words, plan.model->name);
    }
    return words;
}

/// Two and more words of English in a row that are no names; empty where there are none.
QString englishIn(QString text, const std::set<QString>& names) {
    // What a constant rests on is called as its source is called.
    text.remove(QRegularExpression(QStringLiteral(": [^\n]* (?=\\(신뢰도 )")));
    text.remove(QStringLiteral("cost model facts"));
    // The words of a library that reads JSON or TOML, quoted as such.
    text.remove(QRegularExpression(QStringLiteral("\\(해석기의 말: [^\n]*\\)")));
    text.remove(QRegularExpression(QStringLiteral("(?:아는 것|비슷한 이름): [^\n]*")));
    // The values that a key or a file takes.
    text.remove(QRegularExpression(QStringLiteral("다음 중 하나: [^\n]*")));
    text.remove(QRegularExpression(QStringLiteral("`[^`]*`|https?://\\S+")));
    // Paths, keys, identifiers, files.
    text.remove(QRegularExpression(QStringLiteral("\\S*[_./=\\[\\]\"'][\\S]*")));
    static const QRegularExpression run(QStringLiteral("[A-Za-z][a-z]+(?:[ ,:;-]+[A-Za-z]?[a-z]+)+"));
    for (auto found = run.globalMatch(text); found.hasNext();) {
        const QString words = found.next().captured();
        int strange = 0;
        for (const QString& word : words.split(QRegularExpression(QStringLiteral("[^A-Za-z]+")), Qt::SkipEmptyParts))
            strange += !names.contains(word) && !namesOfTheField().contains(word.toLower());
        if (strange >= 2) return words;
    }
    return {};
}

void expectKorean(const QString& text, const std::set<QString>& names, const char* where) {
    const QString english = englishIn(text, names);
    EXPECT_TRUE(english.isEmpty()) << where << ": \"" << english.toStdString() << "\" in\n" << text.toStdString();
}

void expectWidgetsKorean(const QWidget& window, const std::set<QString>& names) {
    for (const QWidget* widget : window.findChildren<QWidget*>()) {
        expectKorean(widget->toolTip(), names, "a tool tip");
        expectKorean(widget->accessibleName(), names, "an accessible name");
        expectKorean(widget->accessibleDescription(), names, "an accessible description");
        if (const auto* label = qobject_cast<const QLabel*>(widget); label != nullptr && label->isVisible())
            expectKorean(label->text(), names, "a label");
        const auto* table = qobject_cast<const QTableWidget*>(widget);
        for (int row = 0; table != nullptr && row < table->rowCount(); ++row)
            for (int column = 0; column < table->columnCount(); ++column) {
                const QTableWidgetItem* item = table->item(row, column);
                if (item == nullptr) continue;
                expectKorean(item->text(), names, "a cell");
                expectKorean(item->toolTip(), names, "a cell's tool tip");
            }
    }
}

TEST(Korean, TheCheckFindsEnglish) {
    EXPECT_FALSE(englishIn(QStringLiteral("설명: found two words"), {}).isEmpty());
    EXPECT_FALSE(englishIn(QStringLiteral("memory bandwidth: 3 TB"), {}).isEmpty());
    EXPECT_TRUE(englishIn(QStringLiteral("training.local_batch_size를 줄이세요"), {}).isEmpty());
    EXPECT_TRUE(englishIn(QStringLiteral("encoder_layer_3의 reduce-scatter"), {}).isEmpty());
}

/// Everything that can be pointed at.
void expectAnswerKorean(OpenWindow& window) {
    const auto answer = window.state().answer();
    ASSERT_NE(answer, nullptr);
    const std::set<QString> names = namesIn(*answer);
    window.state().select(std::nullopt);
    expectKorean(window.details().toPlainText(), names, "the peaks");
    window.state().setRange(TimeRange{0, window.state().view().end()});
    expectKorean(window.details().toPlainText(), names, "a stretch of time");
    window.state().setRange(std::nullopt);
    expectWidgetsKorean(window, names);
    // Every kind of op on every stream once, and every cause of waiting.
    std::set<std::tuple<std::size_t, std::string, int, int>> seen;
    for (std::size_t p = 0; p < answer->plans(); ++p) {
        const LaneSet& set = answer->lanes[p];
        for (std::size_t l = 0; l < set.lanes.size(); ++l)
            for (std::size_t i = 0; i < set.lanes[l].pieces.size(); ++i) {
                const formats::RowPiece piece = set.lanes[l].pieces[i];
                if (!seen.insert({p, set.lanes[l].stream, static_cast<int>(piece.look), static_cast<int>(piece.cause)})
                         .second)
                    continue;
                window.state().select(PieceId{p, l, i});
                expectKorean(window.details().toPlainText(), names, "details");
            }
    }
    EXPECT_GT(seen.size(), 10u);
    for (const Strip& strip : window.timeline().strips()) {
        const int y = strip.top + strip.height / 2;
        for (const int x : {5, window.timeline().plot().center().x(), window.timeline().plot().right() + 8})
            expectKorean(window.timeline().wordsAt(QPoint(x, y)), names, "what is under the pointer");
    }
}

TEST(Korean, EverySampleIsExplainedWithoutEnglish) {
    OpenWindow window(QStringLiteral("ko"));
    for (int sample = 0; sample < static_cast<int>(samples().size()); ++sample) {
        window.await([&] { window.openSample(sample); });
        expectAnswerKorean(window);
    }
}

TEST(Korean, ARunIsExplainedWithoutEnglish) {
    const QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("run.json.gz"));
    OpenWindow window(QStringLiteral("ko"));
    for (const bool predicted : {true, false}) {
        write(smallRun(predicted).file, path);
        window.await([&] { window.openPath(path); });
        expectAnswerKorean(window);
        expectKorean(window.problem(), {}, "the banner");
    }
    SmallRun other = smallRun();
    other.times.processor = "another";
    write(other.times, folder.filePath(QStringLiteral("times.json")));
    window.await([&] { window.predictRun(folder.filePath(QStringLiteral("times.json"))); });
    ASSERT_FALSE(window.problem().isEmpty());
    expectKorean(window.problem(), {}, "the banner");
    other.file.about.set("graph_hash", core::Document::of("0"));
    write(other.file, path);
    window.await([&] { window.openPath(path); });
    expectKorean(window.problem(), {}, "the banner");
}

/// Machine times of which one value is wrong, reached by keys and, in lists, their first or last item.
std::vector<core::Document> brokenTimes() {
    const core::Document whole = core::documentOf(smallRun().times);
    std::vector<core::Document> all;
    const auto with = [&](std::initializer_list<const char*> path, core::Document value) {
        all.push_back(whole);
        core::Document* at = &all.back();
        for (const char* key : path) {
            if (at->kind == core::Document::Kind::List) at = &at->items.front();
            const auto found = std::ranges::find(at->members, std::string_view(key),
                                                 [](const auto& member) { return std::string_view(member.first); });
            if (found == at->members.end()) qFatal("no key %s", key);
            at = &found->second;
        }
        *at = std::move(value);
    };
    const core::Document::Kind kinds[] = {core::Document::Kind::Null, core::Document::Kind::List};
    for (const auto kind : kinds) {
        core::Document other;
        other.kind = kind;
        with({"schema"}, other);
        with({"cores"}, other);
        with({"host"}, other);
        with({"host", "issue_op_ns"}, other);
        with({"compute"}, other);
        with({"compute", "copy"}, other);
    }
    with({"schema"}, core::Document::of("another"));
    with({"version"}, core::Document::of(std::int64_t{99}));
    with({"cores"}, core::Document::of(std::int64_t{0}));
    with({"host", "issue_op_ns"}, core::Document::of(-1.0));
    with({"host", "issue_op_ns"}, core::Document::of(1e300));
    with({"link_bytes_per_s"}, core::Document::of(-1.0));
    with({"compute"}, core::Document::list());
    with({"compute", "busy_ranks"}, core::Document::of("many"));
    with({"transfers", "ranks"}, core::Document::of(std::int64_t{0}));
    with({"transfers", "all_gather"}, core::Document::list());
    with({"transfers", "all_gather", "bytes"}, core::Document::of(std::int64_t{0}));
    with({"transfers", "all_gather", "bytes"}, core::Document::of(std::int64_t{-1}));
    core::Document kernels = core::Document::table();
    kernels.set("MatMul f32[2, 3] > f32[2, 3]", core::Document::of("long"));
    with({"compute", "kernels_ns"}, kernels);
    kernels.set("MatMul f32[2, 3] > f32[2, 3]", core::Document::of(-2.0));
    with({"compute", "kernels_ns"}, kernels);
    for (const char* list : {"compute", "transfers"}) {
        core::Document twice = *whole.find(list);
        twice.items.push_back(twice.items.front());
        with({list}, twice);
    }
    all.push_back(core::Document::list());
    all.push_back(core::Document::table());
    return all;
}

TEST(Korean, BrokenMachineTimesAreExplainedWithoutEnglish) {
    const QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("run.json")), times = folder.filePath(QStringLiteral("t.json"));
    SmallRun run = smallRun(false);
    write(run.file, path);
    OpenWindow window(QStringLiteral("ko"));
    window.await([&] { window.openPath(path); });
    ASSERT_NE(window.state().answer(), nullptr) << window.problem().toStdString();
    const auto check = [&](const core::Document& broken, const char* where) {
        QString said = window.problem();
        const QByteArray text = QByteArray::fromStdString(core::writeJson(broken)).left(300);
        EXPECT_TRUE(said.contains(QRegularExpression(QStringLiteral("[가-힣]")))) << said.toStdString();
        expectKorean(said.remove(folder.path()), {}, where);
        EXPECT_FALSE(said.contains(QStringLiteral("expected"))) << said.toStdString() << "\n" << text.constData();
    };
    for (const core::Document& broken : brokenTimes()) {
        QFile file(times);
        ASSERT_TRUE(file.open(QIODevice::WriteOnly));
        file.write(QByteArray::fromStdString(core::writeJson(broken)));
        file.close();
        window.await([&] { window.predictRun(times); });
        ASSERT_EQ(window.state().plans().size(), 1u) << core::writeJson(broken).substr(0, 300);
        check(broken, "given times");
    }
    // In the run's own file: it stands alone and says why.
    run.file.machine = brokenTimes().front();
    write(run.file, path);
    window.await([&] { window.openPath(path); });
    EXPECT_EQ(window.state().plans().size(), 1u);
    check(run.file.machine, "the run's own times");
}

TEST(Korean, BrokenRunsAreExplainedWithoutEnglish) {
    const QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("run.json"));
    const formats::RunFile whole = smallRun().file;
    std::vector<formats::RunFile> broken(7, whole);
    broken[0].about.set("measured", core::Document::table());
    broken[1].about.set("measured", core::Document::list());
    broken[2].about.set("measured", cli::figuresDocument({{"step", 1e300, false}}));
    broken[3].about.set("measured", cli::figuresDocument({{"step", 1, false}, {"step", 2, false}}));
    broken[4].about.set("machine", core::Document::table());
    broken[5].timeline.ranks.front().multiplicity = 0xffffffff;
    broken[5].timeline.ranks.front().stepEnd = std::int64_t{1} << 40;
    broken[6].timeline.spans.bytes.assign(broken[6].timeline.spans.size(), (std::int64_t{1} << 53) + 1);
    OpenWindow window(QStringLiteral("ko"));
    for (const formats::RunFile& one : broken) {
        write(one, path);
        window.await([&] { window.openPath(path); });
        EXPECT_EQ(window.state().answer(), nullptr);
        QString said = window.problem();
        EXPECT_TRUE(said.contains(QRegularExpression(QStringLiteral("[가-힣]")))) << said.toStdString();
        EXPECT_FALSE(said.contains(QStringLiteral("expected"))) << said.toStdString();
        said.remove(folder.path());
        said.remove(QRegularExpression(QStringLiteral("(?:about|shardscope)(?:, \\w+)+")));  // as the file calls it
        expectKorean(said, {}, "a broken run");
    }
}

struct Broken {
    const char* name;
    QByteArray bytes;
};

std::vector<Broken> brokenFiles() {
    const QByteArray llama =
        R"({"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 256, "vocab_size": 1000,
        "num_attention_heads": 4, "num_hidden_layers": 8, "intermediate_size": 512, "max_position_embeddings": 512)";
    return {
        {"empty.json", ""},
        {"cut.json", "{\"model_type\": "},
        {"zero.json", QByteArray("{\"a\": \0}", 8)},
        {"deep.json", QByteArray(100'000, '[')},
        {"list.json", "[1, 2]"},
        {"other.json", "{\"something\": 1}"},
        {"kineto.json", "{\"schemaVersion\": 1, \"traceEvents\": []}"},
        {"events.json", "{\"traceEvents\": [1"},
        {"packed.json.gz", "\x1f\x8b"},
        {"run.json", "{\"traceEvents\": [], \"shardscope\": {\"schema\": \"shardscope.timeline\", \"version\": 1}}"},
        {"family.json", "{\"model_type\": \"nobodys\"}"},
        {"layers.json", QByteArray(llama).replace("\"num_hidden_layers\": 8", "\"num_hidden_layers\": 100000") + "}"},
        {"again.json", llama + ", \"num_hidden_layers\": 9}"},
        {"heads.json", llama + ", \"num_key_value_heads\": 3}"},
        {"words.json", llama + ", \"rms_norm_eps\": \"small\"}"},
        {"short.safetensors", "abc"},
        {"long.safetensors", QByteArray(64, '\xff')},
        {"noise.toml", QByteArray("\0\xff\xfe[[[", 6)},
        {"twice.toml", "[model]\nname = \"vit_tiny\"\nname = \"vit_tiny\"\n"},
        {"unknown.toml", "[model]\nname = \"vit_tiny\"\n[training]\nlocal_batch = 3\n"},
        {"section.toml", "[modell]\nname = \"vit_tiny\"\n"},
        {"kind.toml", "[model]\nname = \"vit_tiny\"\nlayers = \"many\"\n"},
        {"range.toml", "[model]\nname = \"vit_tiny\"\nlayers = 100000\n"},
        {"none.toml", "[training]\nlocal_batch_size = 2\n"},
        {"both.toml", "[model]\nname = \"vit_tiny\"\npath = \"x\"\n"},
        {"gone.toml", "[model]\npath = \"not/there.json\"\n"},
        {"likemodel.toml", "[model]\nname = \"llama\"\n"},
        {"likegpu.toml", "[model]\nname = \"vit_tiny\"\n[cluster]\ngpu = \"nvidia-h100\"\n"},
        {"checkpoint.toml",
         "[model]\nname = \"vit_tiny\"\n[training]\nactivation_checkpoint = \"every\"\n"
         "checkpoint_every = 100\n"},
        {"nomodel.toml", "[model]\nname = \"gpt5\"\n"},
        {"gpu.toml", "[model]\nname = \"vit_tiny\"\n[cluster]\ngpu = \"h1000\"\n"},
        {"shards.toml",
         "[model]\nname = \"vit_b_16\"\n[cluster]\nnodes = 1\ngpus_per_node = 4\n[parallelism]\n"
         "data_parallel_shard_degree = 3\n"},
        {"tensor.toml", "[model]\nname = \"vit_tiny\"\n[parallelism]\ntensor_parallel_degree = 2\n"},
        {"batch.toml",
         "[model]\nname = \"vit_tiny\"\n[training]\nglobal_batch_size = 7\n[parallelism]\n"
         "data_parallel_shard_degree = 2\n"},
        {"stages.toml", "[model]\nname = \"vit_b_16\"\n[parallelism]\ndata_parallel_shard_degree = 13\n"},
        {"wrap.toml", "[model]\nname = \"vit_tiny\"\n[parallelism]\nfsdp_wrap = [\"nowhere\"]\n"},
        {"reshard.toml",
         "[model]\nname = \"vit_tiny\"\n[parallelism]\ndata_parallel_shard_degree = 4\n"
         "fsdp_reshard_after_forward = 3\n"}};
}

TEST(Korean, WhatIsWrongWithAFileIsSaidWithoutEnglish) {
    const QTemporaryDir folder;
    OpenWindow window(QStringLiteral("ko"));
    const auto check = [&](const QString& path) {
        window.await([&] { window.openPath(path); });
        EXPECT_FALSE(window.problem().isEmpty()) << path.toStdString();
        EXPECT_TRUE(window.problem().contains(QRegularExpression(QStringLiteral("[가-힣]"))))
            << window.problem().toStdString();
        QString said = window.problem();
        expectKorean(said.remove(folder.path()), {}, path.toUtf8().constData());
    };
    for (const Broken& broken : brokenFiles()) {
        QFile file(folder.filePath(QLatin1String(broken.name)));
        ASSERT_TRUE(file.open(QIODevice::WriteOnly));
        file.write(broken.bytes);
        file.close();
        check(file.fileName());
    }
    check(folder.filePath(QStringLiteral("absent.toml")));
    check(folder.path());
    check(QStringLiteral("/dev/null.toml"));
    check(QStringLiteral("/dev/zero"));
}

TEST(Korean, RefusedValuesAreExplainedWithoutEnglish) {
    OpenWindow window(QStringLiteral("ko"));
    window.openLecture();
    int refused = 0;
    for (const core::Key& key : core::scenarioKeys()) {
        const QString path = toQString(key.path);
        for (const char* value : {"-5", "99999999999", "nonsense", "true", "0.5", "[1]", ""}) {
            const core::Scenario before = window.knobs().scenario();
            if (window.knobs().setKey(path, QLatin1String(value))) {
                window.knobs().setScenario(before);
                continue;
            }
            ++refused;
            expectKorean(window.knobs().problemOf(path), {}, path.toUtf8().constData());
        }
    }
    EXPECT_GT(refused, 100);
}

TEST(Korean, RefusedValuesAndErrorsFollowTheLanguage) {
    OpenWindow window;
    window.openLecture();
    const QString key = QStringLiteral("parallelism.data_parallel_shard_degree");
    window.await([&] { window.knobs().setKey(key, QStringLiteral("13")); });
    const QString beside = window.knobs().problemOf(key);
    ASSERT_FALSE(beside.isEmpty());
    window.await([&] { window.openPath(QStringLiteral("/nowhere/absent.toml")); });
    const QString english = window.problem();
    ASSERT_FALSE(english.isEmpty());
    SweepPanel& sweep = window.sweep();
    QSignalSpy finished(&sweep, &SweepPanel::finished);
    sweep.start(key, QStringLiteral("13,2"));
    if (finished.isEmpty()) {
        ASSERT_TRUE(finished.wait(kPatience));
    }
    window.setLanguage(QStringLiteral("ko"));
    QApplication::processEvents();
    expectWidgetsKorean(window, namesIn(*window.state().answer()));
    expectKorean(window.problem(), {}, "the banner");
    expectKorean(window.knobs().problemOf(key), {}, "beside the knob");
    window.setLanguage(QStringLiteral("en"));
    QApplication::processEvents();
    EXPECT_EQ(window.problem(), english);
    EXPECT_EQ(window.knobs().problemOf(key), beside);
}

TEST(Korean, EverySentenceKeepsItsPlacesAndIsThereOnce) {
    QFile file(QStringLiteral(SHARDSCOPE_SOURCE_DIR "/gui/translation/messages_ko.ts"));
    ASSERT_TRUE(file.open(QIODevice::ReadOnly));
    QXmlStreamReader xml(&file);
    std::set<QString> sources;
    QString source;
    while (!xml.atEnd()) {
        if (xml.readNext() != QXmlStreamReader::StartElement) continue;
        if (xml.name() == QLatin1String("source")) {
            source = xml.readElementText();
            EXPECT_TRUE(sources.insert(source).second) << "twice: " << source.toStdString();
        } else if (xml.name() == QLatin1String("translation")) {
            const QString korean = xml.readElementText();
            EXPECT_FALSE(korean.isEmpty()) << source.toStdString();
            for (int place = 1; place <= 9; ++place) {
                const QString words = QStringLiteral("%%1").arg(place);
                EXPECT_EQ(source.count(words), korean.count(words)) << source.toStdString();
                EXPECT_LE(source.count(words), 1) << source.toStdString();
            }
        }
    }
    EXPECT_FALSE(xml.hasError()) << xml.errorString().toStdString();
    EXPECT_GT(sources.size(), 300u);
}

TEST(Korean, TranslatesWholeSentencesWithTheirValues) {
    OpenWindow window;  // installs the translators
    window.setLanguage(QStringLiteral("ko"));
    EXPECT_EQ(inWindowsLanguage("found -5, expected an integer from 1 to 4096 (0: as the model has it)"),
              QStringLiteral("받은 값은 -5, 필요한 값은 1~4096의 정수 (0: 모델의 값 그대로)"));
    EXPECT_EQ(inWindowsLanguage("  forward encoder_layer_2"), QStringLiteral("  encoder_layer_2 순전파"));
    EXPECT_EQ(inWindowsLanguage("no words that anybody knows"), QStringLiteral("no words that anybody knows"));
    EXPECT_EQ(inWindowsLanguage(""), QString());
    EXPECT_EQ(inWindowsLanguage("found %1, expected %2"), QStringLiteral("받은 값은 %1, 필요한 값은 %2"))
        << "what stands in a file is no place";
    window.setLanguage(QStringLiteral("en"));
    EXPECT_EQ(inWindowsLanguage("found -5, expected 1 to 2"), QStringLiteral("found -5, expected 1 to 2"));
}

}  // namespace
}  // namespace shardscope::gui
