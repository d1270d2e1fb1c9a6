<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="ko_KR" sourcelanguage="en">
<context>
    <name>Key</name>
    <message>
        <source>What is trained. Either `name` or `path`; the sizes below change single ones of it.</source>
        <translation>무엇을 학습하는지 정합니다. `name`이나 `path` 중 하나를 쓰며, 아래의 크기들은 모델의 값을 하나씩 바꿉니다.</translation>
    </message>
    <message>
        <source>On what. Sizes that are left out follow the degrees under [parallelism].</source>
        <translation>어디에서 학습하는지 정합니다. 적지 않은 크기는 [parallelism]의 병렬도에 맞춥니다.</translation>
    </message>
    <message>
        <source>What one step is.</source>
        <translation>한 스텝이 무엇인지 정합니다.</translation>
    </message>
    <message>
        <source>How it is spread over the GPUs.</source>
        <translation>GPU에 어떻게 나누는지 정합니다.</translation>
    </message>
    <message>
        <source>Number formats: float32, bfloat16 or float16. torchtitan has these keys under [training]; both places work.</source>
        <translation>숫자 형식: float32, bfloat16, float16. torchtitan에서는 이 키들이 [training]에 있으며, 어느 쪽에 써도 됩니다.</translation>
    </message>
    <message>
        <source>What pictures and tables are headed with.</source>
        <translation>그림과 표의 제목.</translation>
    </message>
    <message>
        <source>A built-in model; `shardscope models` lists them.</source>
        <translation>내장 모델의 이름. 목록은 `shardscope models`로 볼 수 있습니다.</translation>
    </message>
    <message>
        <source>A Hugging Face folder or config.json, a .safetensors file or a folder with model.safetensors.index.json, or a module-tree file; relative to the scenario&apos;s folder.</source>
        <translation>Hugging Face 폴더나 config.json, .safetensors 파일이나 model.safetensors.index.json이 있는 폴더, 또는 모듈 트리 파일. 시나리오 폴더를 기준으로 한 경로입니다.</translation>
    </message>
    <message>
        <source>Blocks.</source>
        <translation>블록 수.</translation>
    </message>
    <message>
        <source>0: as the model has it</source>
        <translation>0: 모델의 값 그대로</translation>
    </message>
    <message>
        <source>Width of the activations between blocks.</source>
        <translation>블록 사이 액티베이션의 너비.</translation>
    </message>
    <message>
        <source>Attention heads.</source>
        <translation>어텐션 헤드 수.</translation>
    </message>
    <message>
        <source>Key and value heads of a language model (grouped attention).</source>
        <translation>언어 모델의 키·값 헤드 수(그룹 어텐션).</translation>
    </message>
    <message>
        <source>Width of a head of a language model.</source>
        <translation>언어 모델 헤드 하나의 너비.</translation>
    </message>
    <message>
        <source>Inner width of the feed-forward part.</source>
        <translation>피드포워드 부분의 안쪽 너비.</translation>
    </message>
    <message>
        <source>Vocabulary of a language model.</source>
        <translation>언어 모델의 어휘 크기.</translation>
    </message>
    <message>
        <source>Side of a vision transformer&apos;s square images, in pixels.</source>
        <translation>비전 트랜스포머가 받는 정사각형 이미지의 한 변, 픽셀 단위.</translation>
    </message>
    <message>
        <source>Side of its patches, in pixels; divides the image size.</source>
        <translation>패치의 한 변, 픽셀 단위. 이미지 크기를 나누어떨어지게 해야 합니다.</translation>
    </message>
    <message>
        <source>Channels of its images.</source>
        <translation>이미지의 채널 수.</translation>
    </message>
    <message>
        <source>Classes that it tells apart.</source>
        <translation>구별하는 클래스 수.</translation>
    </message>
    <message>
        <source>A GPU preset&apos;s name (`shardscope clusters` lists them), or a table in the form of docs/clusters.md. Left out: h100-sxm.</source>
        <translation>GPU 프리셋의 이름(목록은 `shardscope clusters`) 또는 docs/clusters.md 형식의 표. 적지 않으면 h100-sxm.</translation>
    </message>
    <message>
        <source>A node preset&apos;s name or a table. Left out: the GPU&apos;s usual node.</source>
        <translation>노드 프리셋의 이름 또는 표. 적지 않으면 그 GPU의 일반적인 노드.</translation>
    </message>
    <message>
        <source>A cluster file of your own; the keys given here count more. Relative to the scenario&apos;s folder.</source>
        <translation>직접 만든 클러스터 파일. 여기에 적은 키가 우선합니다. 시나리오 폴더를 기준으로 한 경로입니다.</translation>
    </message>
    <message>
        <source>Nodes in use.</source>
        <translation>사용하는 노드 수.</translation>
    </message>
    <message>
        <source>0: as many as the degrees need</source>
        <translation>0: 병렬도에 필요한 만큼</translation>
    </message>
    <message>
        <source>GPUs in use in each node, one rank per GPU.</source>
        <translation>노드마다 사용하는 GPU 수. GPU 하나에 랭크 하나입니다.</translation>
    </message>
    <message>
        <source>0: as the degrees need, else all of the node&apos;s</source>
        <translation>0: 병렬도에 필요한 만큼, 정해지지 않으면 노드의 모든 GPU</translation>
    </message>
    <message>
        <source>Samples (images or sequences) of one micro-batch of one rank under FSDP.</source>
        <translation>FSDP에서 랭크 하나의 마이크로배치 하나에 들어가는 샘플(이미지 또는 시퀀스) 수.</translation>
    </message>
    <message>
        <source>Samples of one step of the whole job; more than all ranks&apos; local batches means gradient accumulation. It is the same for every strategy.</source>
        <translation>작업 전체의 한 스텝에 들어가는 샘플 수. 모든 랭크의 로컬 배치보다 많으면 그래디언트를 누적합니다. 모든 전략에 똑같이 적용됩니다.</translation>
    </message>
    <message>
        <source>-1: local_batch_size on every GPU, no accumulation</source>
        <translation>-1: GPU마다 local_batch_size, 누적 없음</translation>
    </message>
    <message>
        <source>Tokens of a sequence; language models only.</source>
        <translation>시퀀스 하나의 토큰 수. 언어 모델에만 해당합니다.</translation>
    </message>
    <message>
        <source>0: 2,048, or what the model takes if that is less</source>
        <translation>0: 2,048, 모델이 받는 길이가 더 짧으면 그 길이</translation>
    </message>
    <message>
        <source>Samples that naive placement passes through its stages at a time.</source>
        <translation>단순 배치가 스테이지에 한 번에 통과시키는 샘플 수.</translation>
    </message>
    <message>
        <source>0: local_batch_size, the same size as FSDP&apos;s</source>
        <translation>0: local_batch_size, FSDP와 같은 크기</translation>
    </message>
    <message>
        <source>Which of PyTorch&apos;s kernels update the parameters.</source>
        <translation>파라미터를 갱신하는 PyTorch 커널의 종류.</translation>
    </message>
    <message>
        <source>Look at the first step, before which the optimizer&apos;s state does not exist, instead of any later one.</source>
        <translation>이후의 스텝 대신, 옵티마이저 상태가 아직 없는 첫 스텝을 봅니다.</translation>
    </message>
    <message>
        <source>single: everything on one GPU. naive: contiguous layers on each GPU, one micro-batch at a time. ddp: the whole model on every GPU, gradients averaged in buckets. fsdp: FSDP2.</source>
        <translation>single: 모든 것을 GPU 하나에. naive: GPU마다 이어진 레이어를 두고 마이크로배치를 하나씩. ddp: GPU마다 모델 전체를 두고 그래디언트를 버킷 단위로 평균. fsdp: FSDP2.</translation>
    </message>
    <message>
        <source>Ranks over which FSDP shards every parameter.</source>
        <translation>FSDP가 모든 파라미터를 나누어 담는 랭크 수.</translation>
    </message>
    <message>
        <source>-1: all that the other degrees leave</source>
        <translation>-1: 다른 병렬도를 뺀 나머지 전부</translation>
    </message>
    <message>
        <source>Replicas of the sharded model (HSDP): gradients are reduce-scattered inside each, then all-reduced across. DDP has one on every GPU.</source>
        <translation>샤딩된 모델의 복제본 수(HSDP). 그래디언트를 복제본 안에서 reduce-scatter한 뒤 복제본 사이에서 all-reduce합니다. DDP는 GPU마다 하나씩 둡니다.</translation>
    </message>
    <message>
        <source>Stages. Naive placement has one on every GPU. FSDP alone shards inside each of them, one micro-batch at a time; beside naive placement, to compare the two, it has one stage.</source>
        <translation>스테이지 수. 단순 배치는 GPU마다 스테이지가 하나입니다. FSDP만 볼 때는 각 스테이지 안에서 샤딩하고 마이크로배치를 하나씩 처리합니다. 단순 배치와 비교할 때는 스테이지가 하나입니다.</translation>
    </message>
    <message>
        <source>-1: every GPU a stage under naive, 1 otherwise</source>
        <translation>-1: naive에서는 GPU마다 스테이지 하나, 그 밖에는 1</translation>
    </message>
    <message>
        <source>Only 1 is simulated so far.</source>
        <translation>아직은 1만 시뮬레이션합니다.</translation>
    </message>
    <message>
        <source>What naive placement gives every stage an equal share of.</source>
        <translation>단순 배치가 모든 스테이지에 똑같이 나누는 기준.</translation>
    </message>
    <message>
        <source>Whether a unit is freed after its forward and gathered again for backward: &quot;default&quot; (yes; under fsdp_units = &quot;torchtitan&quot; not the last one; no with several stages), &quot;always&quot; or true, &quot;never&quot; or false, an integer that divides the shard degree (keep 1/k, gather among k neighbours), &quot;unset&quot; (the argument left out). The root is apart, see below.</source>
        <translation>유닛을 순전파 뒤에 해제하고 역전파 때 다시 모을지 여부: &quot;default&quot;(예. fsdp_units = &quot;torchtitan&quot;이면 마지막 유닛은 제외, 스테이지가 여럿이면 아니요), &quot;always&quot; 또는 true, &quot;never&quot; 또는 false, 샤드 수를 나누어떨어지게 하는 정수(1/k을 유지하고 이웃 k개끼리 모음), &quot;unset&quot;(인자를 주지 않음). 루트는 따로 정하며 아래를 보세요.</translation>
    </message>
    <message>
        <source>The same for the root. &quot;unset&quot;: kept, as FSDP2 does when the argument is left out.</source>
        <translation>루트에 대한 같은 설정. &quot;unset&quot;: 인자를 주지 않았을 때의 FSDP2처럼 해제하지 않고 유지합니다.</translation>
    </message>
    <message>
        <source>The same for single units, by name: { &quot;blocks.3&quot; = false }.</source>
        <translation>유닛 하나하나에 대한 같은 설정, 이름으로: { &quot;blocks.3&quot; = false }.</translation>
    </message>
    <message>
        <source>Do not reshard the last unit that runs forward (backward needs it at once).</source>
        <translation>순전파의 마지막 유닛은 다시 나누지 않습니다(역전파에 바로 필요하기 때문입니다).</translation>
    </message>
    <message>
        <source>What is wrapped: every block (or blocks_per_unit of them), the root taking the rest; or as torchtitan wraps: the embedding, every block, norm and head together, then the root.</source>
        <translation>감싸는 단위: 블록마다(또는 fsdp_blocks_per_unit개씩) 감싸고 나머지는 루트가 맡거나, torchtitan처럼 임베딩, 블록마다, norm과 head를 함께, 그다음 루트를 감쌉니다.</translation>
    </message>
    <message>
        <source>Consecutive blocks that form one unit.</source>
        <translation>유닛 하나를 이루는 연속된 블록 수.</translation>
    </message>
    <message>
        <source>The units themselves, in the order of the fully_shard calls, inner ones first: full module names, or lists of names for units of several modules. Replaces fsdp_units.</source>
        <translation>유닛을 직접 지정합니다. fully_shard를 호출하는 순서대로, 안쪽부터: 전체 모듈 이름, 또는 모듈 여러 개로 된 유닛이면 이름의 목록. fsdp_units를 대신합니다.</translation>
    </message>
    <message>
        <source>Wrap the root too. Without it every unit becomes its own root and nothing is prefetched in backward.</source>
        <translation>루트도 감쌉니다. 감싸지 않으면 모든 유닛이 각자 루트가 되어 역전파에서 아무것도 프리페치하지 않습니다.</translation>
    </message>
    <message>
        <source>Units that each unit prefetches explicitly in forward.</source>
        <translation>각 유닛이 순전파에서 명시적으로 프리페치하는 유닛 수.</translation>
    </message>
    <message>
        <source>0: the implicit prefetch</source>
        <translation>0: 암묵적 프리페치</translation>
    </message>
    <message>
        <source>Units that each unit prefetches explicitly in backward.</source>
        <translation>각 유닛이 역전파에서 명시적으로 프리페치하는 유닛 수.</translation>
    </message>
    <message>
        <source>0: the implicit prefetch of one</source>
        <translation>0: 유닛 하나의 암묵적 프리페치</translation>
    </message>
    <message>
        <source>Units that the root prefetches explicitly: the first ones in forward, the last ones in backward.</source>
        <translation>루트가 명시적으로 프리페치하는 유닛 수: 순전파에서는 처음 것들, 역전파에서는 마지막 것들.</translation>
    </message>
    <message>
        <source>0: none</source>
        <translation>0: 없음</translation>
    </message>
    <message>
        <source>Of the sharded parameters, their gradients and the optimizer&apos;s state.</source>
        <translation>샤딩된 파라미터, 그 그래디언트, 옵티마이저 상태의 형식.</translation>
    </message>
    <message>
        <source>Of gathered parameters, activations and raw gradients; &quot;none&quot;: dtype.</source>
        <translation>모은 파라미터, 액티베이션, 리듀스 전 그래디언트의 형식. &quot;none&quot;: dtype과 같음.</translation>
    </message>
    <message>
        <source>Of gradient reductions; &quot;none&quot;: dtype.</source>
        <translation>그래디언트 리듀스의 형식. &quot;none&quot;: dtype과 같음.</translation>
    </message>
    <message>
        <source>When the gradients of a step of several micro-batches are reduced: after every one; once, after the last (no_sync, set_requires_gradient_sync); or reduce-scattered after every one and all-reduced over the replicas after the last (set_requires_all_reduce).</source>
        <translation>마이크로배치가 여럿인 스텝에서 그래디언트를 줄이는 때: 매번, 마지막에 한 번(no_sync, set_requires_gradient_sync), 또는 매번 리듀스-스캐터하고 복제본 사이의 올리듀스만 마지막에 한 번(set_requires_all_reduce).</translation>
    </message>
    <message>
        <source>Size at which one of DDP&apos;s buckets is full, MiB.</source>
        <translation>DDP의 버킷 하나가 가득 찬 것으로 보는 크기, MiB.</translation>
    </message>
    <message>
        <source>0: PyTorch&apos;s, 25 and 1 for the first bucket</source>
        <translation>0: PyTorch의 값, 25와 첫 버킷은 1</translation>
    </message>
    <message>
        <source>DDP looks for parameters without gradients; its buckets are then never rebuilt in the order in which gradients come.</source>
        <translation>DDP가 그래디언트 없는 파라미터를 찾습니다. 그러면 버킷을 그래디언트가 오는 순서로 다시 만들지 않습니다.</translation>
    </message>
    <message>
        <source>Promise DDP that every iteration uses the same parameters.</source>
        <translation>모든 반복이 같은 파라미터를 쓴다고 DDP에 약속합니다.</translation>
    </message>
    <message>
        <source>Gradients are views into DDP&apos;s buckets: no second copy of them, and none back.</source>
        <translation>그래디언트가 DDP 버킷의 뷰입니다. 사본이 없고 되돌려 복사하지도 않습니다.</translation>
    </message>
    <message>
        <source>Free a unit&apos;s parameters after its backward. Without it they stay whole from one micro-batch to the next, until the last (set_reshard_after_backward).</source>
        <translation>역전파가 끝난 유닛의 파라미터를 해제합니다. 끄면 마지막 마이크로배치까지 온전한 채로 남습니다(set_reshard_after_backward).</translation>
    </message>
    <message>
        <source>Only the last micro-batch&apos;s backward waits for its reductions (set_is_last_backward).</source>
        <translation>마지막 마이크로배치의 역전파만 리듀스가 끝나기를 기다립니다(set_is_last_backward).</translation>
    </message>
    <message>
        <source>Units that are not gathered in backward, because it needs none of their parameters: an embedding (set_unshard_in_backward).</source>
        <translation>역전파가 파라미터를 쓰지 않아 역전파에서 모으지 않는 유닛: 이를테면 임베딩(set_unshard_in_backward).</translation>
    </message>
    <message>
        <source>Reduce-scatter inputs in flight before backward waits for the oldest (set_reduce_scatter_max_input_buffers).</source>
        <translation>역전파가 가장 오래된 것을 기다리기 전까지 동시에 떠 있을 수 있는 리듀스-스캐터 입력 수(set_reduce_scatter_max_input_buffers).</translation>
    </message>
    <message>
        <source>Reduce-scatters have a communicator of their own and do not queue with all-gathers (set_separate_reduce_scatter_group).</source>
        <translation>리듀스-스캐터가 자기 커뮤니케이터를 써서 올게더와 한 줄에 서지 않습니다(set_separate_reduce_scatter_group).</translation>
    </message>
    <message>
        <source>Issue gathers from the compute stream: only explicit prefetches overlap (set_unshard_async_op).</source>
        <translation>게더를 계산 스트림에서 내보냅니다. 명시적 프리페치만 겹칩니다(set_unshard_async_op).</translation>
    </message>
    <message>
        <source>Units without a root above them share streams and order, so that backward prefetches (share_comm_ctx).</source>
        <translation>위에 루트가 없는 유닛들이 스트림과 순서를 함께 써서 역전파에서 프리페치합니다(share_comm_ctx).</translation>
    </message>
    <message>
        <source>The mesh has a replicate dimension even with one replica: all-reduces are issued all the same.</source>
        <translation>복제본이 하나여도 메시에 복제 차원을 둡니다. 올리듀스를 그대로 내보냅니다.</translation>
    </message>
    <message>
        <source>By what gradients are divided (set_gradient_divide_factor).</source>
        <translation>그래디언트를 나누는 수(set_gradient_divide_factor).</translation>
    </message>
    <message>
        <source>0: the data-parallel ranks</source>
        <translation>0: 데이터 병렬 랭크 수</translation>
    </message>
    <message>
        <source>Reduce by sums, then divide, instead of averaging (set_force_sum_reduction_for_comms).</source>
        <translation>평균 대신 합으로 줄인 뒤에 나눕니다(set_force_sum_reduction_for_comms).</translation>
    </message>
    <message>
        <source>The caller ends the backward pass (set_manual_backward_finalization).</source>
        <translation>역전파의 끝을 호출자가 마무리합니다(set_manual_backward_finalization).</translation>
    </message>
    <message>
        <source>Blocks that keep their input alone and run forward again in backward: none; full: all; every: each n-th; selective: all, but the results of attention and of half the products are kept (torchtitan&apos;s list).</source>
        <translation>입력만 남기고 역전파에서 순전파를 다시 하는 블록: none은 없음, full은 모두, every는 n번째마다, selective는 모두 하되 어텐션과 곱셈 절반의 결과를 남깁니다(torchtitan의 목록).</translation>
    </message>
    <message>
        <source>Which blocks are checkpointed under activation_checkpoint = &quot;every&quot;: the n-th, the 2n-th, ...</source>
        <translation>activation_checkpoint = &quot;every&quot;일 때 체크포인트하는 블록: n번째, 2n번째, ...</translation>
    </message>
    <message>
        <source>Stop running forward again once everything that backward needs is there (PyTorch&apos;s default; torchtitan runs to the end).</source>
        <translation>역전파에 필요한 것이 다 모이면 다시 하던 순전파를 멈춥니다(PyTorch의 기본값. torchtitan은 끝까지 합니다).</translation>
    </message>
    <message>
        <source>The optimizer. sgd_momentum keeps one value an element; adamw_8bit is torchao&apos;s.</source>
        <translation>옵티마이저. sgd_momentum은 원소마다 값 하나를 두고, adamw_8bit은 torchao의 것입니다.</translation>
    </message>
    <message>
        <source>Modules or parameters that are not trained, by full name: no gradients, no optimizer state, no backward below the first that is trained. Not under ddp.</source>
        <translation>훈련하지 않는 모듈이나 파라미터의 전체 이름: 그래디언트도 옵티마이저 상태도 없고, 처음 훈련되는 것 아래로는 역전파하지 않습니다. ddp에서는 안 됩니다.</translation>
    </message>
    <message>
        <source>What the step does. train: forward, backward, optimizer. evaluate: forward alone, without gradients, after another such step, which left the root and all units that are not resharded whole. first_evaluate: after a training step. train_after_evaluate: train, but with what an evaluation left whole.</source>
        <translation>이 스텝이 하는 일. train: 순전파, 역전파, 옵티마이저. evaluate: 그래디언트 없이 순전파만 하며, 앞의 평가가 루트와 다시 샤딩하지 않는 유닛을 모인 채로 남겨 둔 상태입니다. first_evaluate: 훈련 스텝 다음의 첫 평가. train_after_evaluate: 평가가 모인 채로 남긴 것으로 하는 훈련.</translation>
    </message>
    <message>
        <source>Call clip_grad_norm_ with a max_norm of 1.0 before the optimizer, as torchtitan does; how large it is changes no time.</source>
        <translation>옵티마이저 전에 torchtitan처럼 max_norm 1.0으로 clip_grad_norm_을 호출합니다. 그 크기는 시간을 바꾸지 않습니다.</translation>
    </message>
    <message>
        <source>FSDP&apos;s CPUOffloadPolicy: shards, their gradients and the optimizer live in host memory. Every gather copies the own shard to the GPU, every reduction copies its share back, and the CPUs run the optimizer.</source>
        <translation>FSDP의 CPUOffloadPolicy: 샤드와 그 그래디언트, 옵티마이저가 호스트 메모리에 있습니다. 모을 때마다 자기 샤드를 GPU로, 줄일 때마다 자기 몫을 호스트로 복사하고, 옵티마이저는 CPU가 실행합니다.</translation>
    </message>
    <message>
        <source>Whether that host memory is page-locked (CPUOffloadPolicy&apos;s pin_memory).</source>
        <translation>그 호스트 메모리를 페이지 고정할지(CPUOffloadPolicy의 pin_memory).</translation>
    </message>
    <message>
        <source>Modules or parameters, by full name, whose tensors of two and more dimensions are cut along dim 1 (shard_placement_fn). It must divide evenly by the shards.</source>
        <translation>2차원 이상 텐서를 1번 차원을 따라 자르는 모듈이나 파라미터의 전체 이름(shard_placement_fn). 샤드 수로 나누어떨어져야 합니다.</translation>
    </message>
    <message>
        <source>Which attention kernels run: a fused one (FlashAttention 2, memory-efficient, cuDNN, or flash-attn&apos;s versions 1 and 3), PyTorch&apos;s unfused form in fp32 (math), or transformers&apos; eager one.</source>
        <translation>어떤 어텐션 커널을 쓸지: 결합된 것(FlashAttention 2, 메모리 절약형, cuDNN, 또는 flash-attn의 1판과 3판), PyTorch의 fp32 풀어쓴 형태(math), 또는 transformers의 eager.</translation>
    </message>
    <message>
        <source>How RMS norms run: kernel by kernel, as transformers writes them, or as one kernel (torch.nn.RMSNorm, torchtitan).</source>
        <translation>RMS 노름을 어떻게 실행할지: transformers처럼 커널 하나하나로, 또는 한 커널로(torch.nn.RMSNorm, torchtitan).</translation>
    </message>
    <message>
        <source>Modules or parameters, by full name, or types of modules ("LayerNorm"), that FSDP2 gathers and uses in dtype although mixed_precision_param is another (param_dtype_override_fn).</source>
        <translation>mixed_precision_param이 다른 형식이어도 FSDP2가 dtype 그대로 모아 쓰는 모듈이나 파라미터의 전체 이름, 또는 모듈의 종류("LayerNorm")(param_dtype_override_fn).</translation>
    </message>
    <message>
        <source>2: fully_shard. 1: FullyShardedDataParallel, a flat parameter a unit; "never" under fsdp_reshard_after_forward is its SHARD_GRAD_OP, replicas make it HYBRID_SHARD.</source>
        <translation>2: fully_shard. 1: 유닛마다 평탄한 파라미터 하나를 두는 FullyShardedDataParallel. fsdp_reshard_after_forward의 "never"가 SHARD_GRAD_OP이고, 복제본이 있으면 HYBRID_SHARD입니다.</translation>
    </message>
    <message>
        <source>FSDP1's limit on gathers in flight: the host waits for units that it has freed before it gathers another.</source>
        <translation>FSDP1이 동시에 진행하는 gather의 한도: 호스트는 다른 유닛을 모으기 전에, 해제한 유닛이 끝나기를 기다립니다.</translation>
    </message>
    <message>
        <source>When FSDP1 gathers the next unit of backward: before the backward of the one before it, after it, or on demand.</source>
        <translation>FSDP1이 역전파의 다음 유닛을 모으는 때: 앞 유닛의 역전파 전, 그 뒤, 또는 필요할 때.</translation>
    </message>
    <message>
        <source>torch.compile of the layers, the loss apart: neighbouring memory-bound kernels run as one, and the host launches less. What is saved for backward stays what it is without.</source>
        <translation>손실을 뺀 레이어의 torch.compile: 이웃한 메모리 위주 커널이 하나로 실행되고 호스트의 실행 명령이 줄어듭니다. 역전파를 위해 저장하는 것은 그대로입니다.</translation>
    </message>
    <message>
        <source>A size for each of DDP's buckets in turn, MiB; the last one repeats. In place of ddp_bucket_cap_mb.</source>
        <translation>DDP 버킷의 크기를 차례로 적은 것, MiB. 마지막 크기가 되풀이됩니다. ddp_bucket_cap_mb 대신 씁니다.</translation>
    </message>
    <message>
        <source>Dropout of embeddings, attention and residuals, whose masks are kept for backward: config: as the model&apos;s config.json says (built-in models: none); on, off: everywhere, nowhere.</source>
        <translation>임베딩, 어텐션, 잔차의 드롭아웃. 마스크는 역전파까지 남습니다. config: 모델의 config.json대로(내장 모델: 없음), on: 모두, off: 없음.</translation>
    </message>
    <message>
        <source>Whose kernels and number formats PyTorch&apos;s operations have: gpu, or cpu, where layer norms keep their statistics and dropout its masks in the activations&apos; format.</source>
        <translation>PyTorch 연산의 커널과 수 형식을 어느 쪽 것으로 할지: gpu, 또는 레이어 노름의 통계와 드롭아웃의 마스크를 활성값의 형식으로 두는 cpu.</translation>
    </message>
    <message>
        <source>torch.autocast: mixed_precision_param holds for matrix products and attention, the rest of the pass and the gradients are float32. Without FSDP.</source>
        <translation>torch.autocast: mixed_precision_param은 행렬 곱과 어텐션에만 쓰이고, 나머지 연산과 기울기는 float32입니다. FSDP 없이.</translation>
    </message>
</context>
</TS>
