<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="ko_KR" sourcelanguage="en">
<context>
    <name>Actions</name>
    <message>
        <source>&amp;File</source>
        <translation>파일(&amp;F)</translation>
    </message>
    <message>
        <source>&amp;Edit</source>
        <translation>편집(&amp;E)</translation>
    </message>
    <message>
        <source>&amp;View</source>
        <translation>보기(&amp;V)</translation>
    </message>
    <message>
        <source>&amp;Go</source>
        <translation>이동(&amp;G)</translation>
    </message>
    <message>
        <source>&amp;Help</source>
        <translation>도움말(&amp;H)</translation>
    </message>
    <message>
        <source>Zoom in and out at the pointer</source>
        <translation>포인터 위치에서 확대와 축소</translation>
    </message>
    <message>
        <source>Move left and right</source>
        <translation>왼쪽과 오른쪽으로 이동</translation>
    </message>
    <message>
        <source>Previous and next piece of the lane</source>
        <translation>레인의 이전 조각과 다음 조각</translation>
    </message>
    <message>
        <source>The lane above and below</source>
        <translation>위 레인과 아래 레인</translation>
    </message>
    <message>
        <source>Select nothing</source>
        <translation>선택 해제</translation>
    </message>
    <message>
        <source>Ctrl + wheel</source>
        <translation>Ctrl + 휠</translation>
    </message>
    <message>
        <source>Zoom at the pointer</source>
        <translation>포인터 위치에서 확대·축소</translation>
    </message>
    <message>
        <source>Shift + wheel, drag</source>
        <translation>Shift + 휠, 끌기</translation>
    </message>
    <message>
        <source>Move</source>
        <translation>이동</translation>
    </message>
    <message>
        <source>Shift + drag</source>
        <translation>Shift + 끌기</translation>
    </message>
    <message>
        <source>Choose a stretch of time and sum it up</source>
        <translation>시간 구간을 골라 합계 보기</translation>
    </message>
    <message>
        <source>Start page</source>
        <translation>시작 페이지</translation>
    </message>
    <message>
        <source>Open a file…</source>
        <translation>파일 열기…</translation>
    </message>
    <message>
        <source>Open a model&apos;s folder…</source>
        <translation>모델 폴더 열기…</translation>
    </message>
    <message>
        <source>Save the picture…</source>
        <translation>그림 저장…</translation>
    </message>
    <message>
        <source>Quit</source>
        <translation>끝내기</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>실행 취소</translation>
    </message>
    <message>
        <source>Redo</source>
        <translation>다시 실행</translation>
    </message>
    <message>
        <source>Copy as a scenario file</source>
        <translation>시나리오 파일로 복사</translation>
    </message>
    <message>
        <source>Copy as a command line</source>
        <translation>명령줄로 복사</translation>
    </message>
    <message>
        <source>Copy what FSDP does, with the PyTorch calls</source>
        <translation>FSDP의 동작을 PyTorch 호출과 함께 복사</translation>
    </message>
    <message>
        <source>Show the whole step</source>
        <translation>스텝 전체 보기</translation>
    </message>
    <message>
        <source>Zoom to the selection</source>
        <translation>선택한 곳으로 확대</translation>
    </message>
    <message>
        <source>Show every stream</source>
        <translation>모든 스트림 표시</translation>
    </message>
    <message>
        <source>One clock for all plans</source>
        <translation>모든 계획을 같은 시계로</translation>
    </message>
    <message>
        <source>Steps end together</source>
        <translation>스텝 끝을 맞춤</translation>
    </message>
    <message>
        <source>Every step fills the axis</source>
        <translation>스텝마다 축을 가득 채움</translation>
    </message>
    <message>
        <source>Colours of the desktop</source>
        <translation>데스크톱의 색</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>밝게</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>어둡게</translation>
    </message>
    <message>
        <source>High contrast</source>
        <translation>고대비</translation>
    </message>
    <message>
        <source>Show all panels</source>
        <translation>모든 패널 표시</translation>
    </message>
    <message>
        <source>Play and pause</source>
        <translation>재생과 일시 정지</translation>
    </message>
    <message>
        <source>Back to the view before</source>
        <translation>이전 화면으로</translation>
    </message>
    <message>
        <source>Forward again</source>
        <translation>다음 화면으로</translation>
    </message>
    <message>
        <source>Search an op</source>
        <translation>연산(op) 찾기</translation>
    </message>
    <message>
        <source>Next hit</source>
        <translation>다음 결과</translation>
    </message>
    <message>
        <source>Previous hit</source>
        <translation>이전 결과</translation>
    </message>
    <message>
        <source>To the timeline</source>
        <translation>타임라인으로</translation>
    </message>
    <message>
        <source>Keys</source>
        <translation>단축키</translation>
    </message>
    <message>
        <source>All commands…</source>
        <translation>모든 명령…</translation>
    </message>
    <message>
        <source>&amp;Plans</source>
        <translation>계획(&amp;P)</translation>
    </message>
    <message>
        <source>Show one GPU alone (single)</source>
        <translation>GPU 하나만 쓰는 경우 보기 (single)</translation>
    </message>
    <message>
        <source>Show whole copies with averaged gradients (ddp)</source>
        <translation>그래디언트를 평균하는 복제본 보기 (ddp)</translation>
    </message>
    <message>
        <source>Show naive placement (naive)</source>
        <translation>단순 배치 보기 (naive)</translation>
    </message>
    <message>
        <source>Show sharding (fsdp)</source>
        <translation>샤딩 보기 (fsdp)</translation>
    </message>
    <message>
        <source>Keep for comparison</source>
        <translation>비교용으로 고정</translation>
    </message>
    <message>
        <source>Drop a kept plan</source>
        <translation>고정한 계획 하나 빼기</translation>
    </message>
    <message>
        <source>Drop all kept plans</source>
        <translation>고정한 계획 모두 빼기</translation>
    </message>
    <message>
        <source>Identical ranks one by one, or once</source>
        <translation>똑같은 랭크를 하나씩 또는 한 번만 표시</translation>
    </message>
    <message>
        <source>One of identical ranks…</source>
        <translation>똑같은 랭크 중 하나…</translation>
    </message>
    <message>
        <source>Copy the statistics as CSV</source>
        <translation>통계를 CSV로 복사</translation>
    </message>
    <message>
        <source>Copy the statistics as Markdown</source>
        <translation>통계를 Markdown으로 복사</translation>
    </message>
    <message>
        <source>To what it waited for</source>
        <translation>기다린 것으로 이동</translation>
    </message>
    <message>
        <source>To what waits for it</source>
        <translation>이것을 기다리는 것으로 이동</translation>
    </message>
    <message>
        <source>Next piece of the chosen row of statistics</source>
        <translation>고른 통계 행의 다음 조각</translation>
    </message>
    <message>
        <source>Previous piece of the chosen row of statistics</source>
        <translation>고른 통계 행의 이전 조각</translation>
    </message>
    <message>
        <source>To the statistics</source>
        <translation>통계로</translation>
    </message>
    <message>
        <source>The timeline as a table</source>
        <translation>타임라인을 표로</translation>
    </message>
    <message>
        <source>Memory as a table</source>
        <translation>메모리를 표로</translation>
    </message>
    <message>
        <source>The sweep as a table</source>
        <translation>훑은 결과를 표로</translation>
    </message>
    <message>
        <source>Continue where you were</source>
        <translation>하던 곳에서 계속</translation>
    </message>
    <message>
        <source>Reset layout</source>
        <translation>배치 초기화</translation>
    </message>
    <message>
        <source>Size 100 %</source>
        <translation>크기 100 %</translation>
    </message>
    <message>
        <source>Size 125 %</source>
        <translation>크기 125 %</translation>
    </message>
    <message>
        <source>Size 150 %</source>
        <translation>크기 150 %</translation>
    </message>
    <message>
        <source>Size 200 %</source>
        <translation>크기 200 %</translation>
    </message>
    <message>
        <source>Size 250 %</source>
        <translation>크기 250 %</translation>
    </message>
    <message>
        <source>Size 300 %</source>
        <translation>크기 300 %</translation>
    </message>
    <message>
        <source>Larger</source>
        <translation>크게</translation>
    </message>
    <message>
        <source>Smaller</source>
        <translation>작게</translation>
    </message>
    <message>
        <source>Usual size</source>
        <translation>보통 크기</translation>
    </message>
    <message>
        <source>Legend of colours and patterns</source>
        <translation>색과 무늬의 범례</translation>
    </message>
    <message>
        <source>Predict a run with machine times…</source>
        <translation>실행을 기계의 시간으로 예측…</translation>
    </message>
</context>
<context>
    <name>Formula</name>
    <message>
        <source>send</source>
        <translation>보내기</translation>
    </message>
    <message>
        <source>Nothing is sent.</source>
        <translation>보내는 것이 없습니다.</translation>
    </message>
    <message>
        <source>What the GPU that sends most (%1) sends in a step: %2; of X bytes among N GPUs a gather or reduce-scatter sends X (N − 1) / N.</source>
        <translation>가장 많이 보내는 GPU(%1)가 한 스텝에 보내는 양: %2. GPU N개 사이의 X바이트에서 all-gather나 reduce-scatter는 X (N − 1) / N을 보냅니다.</translation>
    </message>
    <message>
        <source>From the beginning of the step to the end of the last op on any GPU: %1.</source>
        <translation>스텝의 시작부터 어느 GPU에서든 마지막 op가 끝날 때까지: %1.</translation>
    </message>
    <message>
        <source>Samples of a step / step = %1 / %2 = %3.</source>
        <translation>한 스텝의 샘플 / 스텝 = %1 / %2 = %3.</translation>
    </message>
    <message>
        <source>(waiting + idle) of all GPUs / GPUs = (%1 + %2) / %3 = %4.</source>
        <translation>모든 GPU의 (대기 + 유휴) / GPU 수 = (%1 + %2) / %3 = %4.</translation>
    </message>
    <message>
        <source>Transfers with no compute beside them, of all GPUs / GPUs = %1 / %2 = %3.</source>
        <translation>연산과 겹치지 않은 전송, 모든 GPU의 합 / GPU 수 = %1 / %2 = %3.</translation>
    </message>
    <message>
        <source>Of the GPU with the least left (%1): reserved by the allocator + CUDA context + NCCL&apos;s buffers = %2 + %3 + %4 = %5.</source>
        <translation>여유가 가장 적은 GPU(%1): 할당자가 잡은 메모리 + CUDA 컨텍스트 + NCCL 버퍼 = %2 + %3 + %4 = %5.</translation>
    </message>
    <message>
        <source>Usable − needed = %1 − %2 = %3.</source>
        <translation>쓸 수 있는 양 − 필요한 양 = %1 − %2 = %3.</translation>
    </message>
    <message>
        <source>step</source>
        <translation>스텝</translation>
    </message>
    <message>
        <source>Sums over all GPUs (%1):</source>
        <translation>모든 GPU(%1개)의 합:</translation>
    </message>
    <message>
        <source>compute</source>
        <translation>연산</translation>
    </message>
    <message>
        <source>exposed transfers</source>
        <translation>드러난 전송</translation>
    </message>
    <message>
        <source>exposed copies</source>
        <translation>드러난 복사</translation>
    </message>
    <message>
        <source>waiting + idle</source>
        <translation>대기 + 유휴</translation>
    </message>
    <message>
        <source>Sums over all ranks (%1):</source>
        <translation>모든 랭크(%1)의 합:</translation>
    </message>
</context>
<context>
    <name>Hints</name>
    <message>
        <source>%1 (in the knobs panel)</source>
        <translation>%1 (설정값 패널에서)</translation>
    </message>
    <message>
        <source>%1 (a box above the timeline)</source>
        <translation>%1(타임라인 위의 상자)</translation>
    </message>
</context>
<context>
    <name>Plans</name>
    <message>
        <source>1 GPU</source>
        <translation>GPU 1개</translation>
    </message>
    <message>
        <source>%1 GPUs</source>
        <translation>GPU %1개</translation>
    </message>
    <message>
        <source>kept</source>
        <translation>고정됨</translation>
    </message>
    <message>
        <source>measured</source>
        <translation>실측</translation>
    </message>
    <message>
        <source>predicted</source>
        <translation>예측</translation>
    </message>
    <message>
        <source>what if</source>
        <translation>바꾼다면</translation>
    </message>
</context>
<context>
    <name>RunWords</name>
    <message>
        <source>forward</source>
        <translation>순전파</translation>
    </message>
    <message>
        <source>backward</source>
        <translation>역전파</translation>
    </message>
    <message>
        <source>recompute</source>
        <translation>재계산</translation>
    </message>
    <message>
        <source>optimizer</source>
        <translation>옵티마이저</translation>
    </message>
    <message>
        <source>gather copy-in</source>
        <translation>all-gather 복사(넣기)</translation>
    </message>
    <message>
        <source>copy-out</source>
        <translation>all-gather 복사(꺼내기)</translation>
    </message>
    <message>
        <source>reduce copy-in</source>
        <translation>reduce-scatter 복사(넣기)</translation>
    </message>
    <message>
        <source>reduce copy-out</source>
        <translation>reduce-scatter 복사(꺼내기)</translation>
    </message>
    <message>
        <source>divide</source>
        <translation>나누기</translation>
    </message>
    <message>
        <source>add gradient</source>
        <translation>그래디언트 더하기</translation>
    </message>
    <message>
        <source>optimizer step</source>
        <translation>옵티마이저 스텝</translation>
    </message>
    <message>
        <source>send</source>
        <translation>보내기</translation>
    </message>
    <message>
        <source>receive</source>
        <translation>받기</translation>
    </message>
    <message>
        <source>memory copy</source>
        <translation>메모리 복사</translation>
    </message>
    <message>
        <source>host work</source>
        <translation>호스트 작업</translation>
    </message>
    <message>
        <source>keep slice</source>
        <translation>조각 남기기</translation>
    </message>
    <message>
        <source>cast parameters</source>
        <translation>파라미터 형 변환</translation>
    </message>
    <message>
        <source>loss</source>
        <translation>손실</translation>
    </message>
    <message>
        <source>reduction</source>
        <translation>그래디언트 합치기</translation>
    </message>
    <message>
        <source>other</source>
        <translation>그 밖</translation>
    </message>
    <message>
        <source>Step</source>
        <translation>스텝</translation>
    </message>
    <message>
        <source>Compute</source>
        <translation>연산</translation>
    </message>
    <message>
        <source>Exposed transfers</source>
        <translation>드러난 전송</translation>
    </message>
    <message>
        <source>Exposed copies</source>
        <translation>드러난 복사</translation>
    </message>
    <message>
        <source>Waiting</source>
        <translation>대기</translation>
    </message>
    <message>
        <source>Idle</source>
        <translation>유휴</translation>
    </message>
    <message>
        <source>Peak memory</source>
        <translation>메모리 피크</translation>
    </message>
    <message>
        <source>Ops: %1</source>
        <translation>연산(op): %1</translation>
    </message>
    <message>
        <source>From the beginning of the first rank to the end of the last; measured: the median of the steps, without the first two where there are more.</source>
        <translation>첫 랭크의 시작부터 마지막 랭크의 끝까지. 실측은 스텝들의 중앙값이며, 스텝이 더 있으면 처음 둘은 뺀다.</translation>
    </message>
    <message>
        <source>The most that a rank&apos;s allocator counts at one moment of a step.</source>
        <translation>한 랭크의 할당자가 스텝의 한 순간에 세는 가장 많은 양.</translation>
    </message>
    <message>
        <source>How long a mean rank&apos;s ops of this kind take together, also beside others; transfers from the arrival of the last member on.</source>
        <translation>평균 랭크에서 이 종류의 연산(op)이 걸린 시간의 합(다른 것과 겹친 시간 포함). 전송은 마지막 구성원이 도착한 때부터 센다.</translation>
    </message>
    <message>
        <source>Of a mean rank. Predicted, compute, exposed transfers, exposed copies, waiting and idle add up to the step; measured they need not, because the measured step is a median.</source>
        <translation>평균 랭크의 값. 예측에서는 연산, 드러난 전송, 드러난 복사, 대기, 유휴를 더하면 스텝이 된다. 실측에서는 스텝이 중앙값이므로 꼭 그렇지는 않다.</translation>
    </message>
    <message>
        <source>The curve is what the graph holds between the measured instants of its ops. The allocators of the run counted at most %1 on a rank, in the host&apos;s order.</source>
        <translation>곡선은 그래프가 연산(op)의 실측 시점 사이에 쥐고 있는 양이다. 실행의 할당자가 호스트 순서로 센 양은 한 랭크에서 많아야 %1이다.</translation>
    </message>
    <message>
        <source>The curve is what the graph holds between the predicted instants of its ops. Predicted for the allocator, in the host&apos;s order: at most %1 on a rank.</source>
        <translation>곡선은 그래프가 연산(op)의 예측 시점 사이에 쥐고 있는 양이다. 호스트 순서로 할당자가 셀 것으로 예측한 양은 한 랭크에서 많아야 %1이다.</translation>
    </message>
    <message>
        <source>the same</source>
        <translation>같음</translation>
    </message>
</context>
<context>
    <name>Words</name>
    <message>
        <source>Step</source>
        <translation>스텝</translation>
    </message>
    <message>
        <source>Throughput</source>
        <translation>처리량</translation>
    </message>
    <message>
        <source>A GPU waits</source>
        <translation>GPU 하나의 대기 시간</translation>
    </message>
    <message>
        <source>Exposed communication</source>
        <translation>드러난 통신</translation>
    </message>
    <message>
        <source>On the wire, a GPU</source>
        <translation>GPU 하나의 전송량</translation>
    </message>
    <message>
        <source>Memory needed</source>
        <translation>필요한 메모리</translation>
    </message>
    <message>
        <source>%1 a second</source>
        <translation>%1/초</translation>
    </message>
    <message>
        <source>the same</source>
        <translation>같음</translation>
    </message>
    <message>
        <source>%1 times faster</source>
        <translation>%1배 빠름</translation>
    </message>
    <message>
        <source>%1 times slower</source>
        <translation>%1배 느림</translation>
    </message>
    <message>
        <source>%1 times less</source>
        <translation>%1배 적음</translation>
    </message>
    <message>
        <source>%1 times more</source>
        <translation>%1배 많음</translation>
    </message>
    <message>
        <source>%1, %2</source>
        <translation>%1, %2</translation>
    </message>
    <message>
        <source>waits %1: %2</source>
        <translation>%1 대기: %2</translation>
    </message>
    <message>
        <source>%1 waits %2 for its turn or its peers</source>
        <translation>%1: %2 동안 차례나 상대를 기다림</translation>
    </message>
    <message>
        <source>data</source>
        <translation>데이터</translation>
    </message>
    <message>
        <source>order of the stream</source>
        <translation>스트림 순서</translation>
    </message>
    <message>
        <source>waits for an event</source>
        <translation>이벤트 대기</translation>
    </message>
    <message>
        <source>memory limit</source>
        <translation>메모리 한도</translation>
    </message>
    <message>
        <source>order of the communicator</source>
        <translation>통신 그룹의 순서</translation>
    </message>
    <message>
        <source>launch by the host</source>
        <translation>호스트의 실행 지시</translation>
    </message>
    <message>
        <source>peer</source>
        <translation>상대 랭크</translation>
    </message>
    <message>
        <source>the other %1</source>
        <translation>나머지 %1개</translation>
    </message>
    <message>
        <source>Reading files</source>
        <translation>파일 읽는 중</translation>
    </message>
    <message>
        <source>Laying out the model for %1</source>
        <translation>%1에 쓸 모델을 짜는 중</translation>
    </message>
    <message>
        <source>Building the graph of %1</source>
        <translation>%1의 그래프를 만드는 중</translation>
    </message>
    <message>
        <source>Simulating %1</source>
        <translation>%1 시뮬레이션 중</translation>
    </message>
    <message>
        <source>Following the memory of %1</source>
        <translation>%1의 메모리를 따라가는 중</translation>
    </message>
    <message>
        <source>Finding out why GPUs wait under %1</source>
        <translation>%1에서 GPU가 왜 기다리는지 찾는 중</translation>
    </message>
    <message>
        <source>Preparing the lanes of %1</source>
        <translation>%1의 레인을 준비하는 중</translation>
    </message>
    <message>
        <source>idle</source>
        <translation>유휴</translation>
    </message>
    <message>
        <source>idle: %1</source>
        <translation>유휴: %1</translation>
    </message>
    <message>
        <source>waits for the all-gather of %1</source>
        <translation>%1의 all-gather를 기다림</translation>
    </message>
    <message>
        <source>waits for the reduce-scatter of %1</source>
        <translation>%1의 reduce-scatter를 기다림</translation>
    </message>
    <message>
        <source>waits: the reduce-scatter of %1 holds the buffer</source>
        <translation>기다림: %1의 reduce-scatter가 버퍼를 잡고 있음</translation>
    </message>
    <message>
        <source>waits for the all-reduce of %1</source>
        <translation>%1의 all-reduce를 기다림</translation>
    </message>
    <message>
        <source>waits for a collective</source>
        <translation>집합 통신을 기다림</translation>
    </message>
    <message>
        <source>stage before</source>
        <translation>앞 스테이지</translation>
    </message>
    <message>
        <source>stage after</source>
        <translation>뒤 스테이지</translation>
    </message>
    <message>
        <source>waits for a late peer</source>
        <translation>늦은 상대를 기다림</translation>
    </message>
    <message>
        <source>waits for the host to launch</source>
        <translation>호스트의 실행을 기다림</translation>
    </message>
    <message>
        <source>waits for the host&apos;s optimizer</source>
        <translation>호스트의 옵티마이저를 기다림</translation>
    </message>
    <message>
        <source>waits for a copy</source>
        <translation>복사를 기다림</translation>
    </message>
    <message>
        <source>waits for data</source>
        <translation>데이터를 기다림</translation>
    </message>
    <message>
        <source>waits: the host blocks</source>
        <translation>기다림: 호스트가 막힘</translation>
    </message>
    <message>
        <source>waits: nothing left to do</source>
        <translation>기다림: 남은 일이 없음</translation>
    </message>
    <message>
        <source>idle %1: %2</source>
        <translation>%1 유휴: %2</translation>
    </message>
</context>
<context>
    <name>shardscope::gui::DetailsPanel</name>
    <message>
        <source>Details</source>
        <translation>상세 정보</translation>
    </message>
    <message>
        <source>Click a bar, or use the arrow keys, to see what it is and what it waits for.</source>
        <translation>막대를 클릭하거나 화살표 키로 고르면, 그것이 무엇이고 무엇을 기다리는지 볼 수 있습니다.</translation>
    </message>
    <message>
        <source>from</source>
        <translation>시작</translation>
    </message>
    <message>
        <source>to</source>
        <translation>끝</translation>
    </message>
    <message>
        <source>takes</source>
        <translation>걸린 시간</translation>
    </message>
    <message>
        <source>unit</source>
        <translation>유닛</translation>
    </message>
    <message>
        <source>payload</source>
        <translation>전송 데이터</translation>
    </message>
    <message>
        <source>micro-batch</source>
        <translation>마이크로배치</translation>
    </message>
    <message numerus="yes">
        <source>and %n more</source>
        <translation>
            <numerusform>외 %n개</numerusform>
        </translation>
    </message>
    <message>
        <source>It waited for</source>
        <translation>기다린 것</translation>
    </message>
    <message>
        <source>What waits for it</source>
        <translation>이것을 기다리는 것</translation>
    </message>
    <message>
        <source>How its time comes about</source>
        <translation>시간을 계산한 방법</translation>
    </message>
    <message>
        <source>Memory peak of %1: %2</source>
        <translation>%1의 메모리 최대치: %2</translation>
    </message>
    <message>
        <source>waits</source>
        <translation>대기</translation>
    </message>
    <message>
        <source>works</source>
        <translation>작업</translation>
    </message>
    <message>
        <source>The same op in every timeline</source>
        <translation>타임라인마다의 같은 연산(op)</translation>
    </message>
</context>
<context>
    <name>shardscope::gui::DifferencePanel</name>
    <message>
        <source>Differences</source>
        <translation>차이</translation>
    </message>
    <message>
        <source>against %1</source>
        <translation>%1 대비</translation>
    </message>
    <message>
        <source>Fits in memory</source>
        <translation>메모리에 들어가는가</translation>
    </message>
    <message>
        <source>yes, %1 left</source>
        <translation>예, %1 남음</translation>
    </message>
    <message>
        <source>NO, %1 short</source>
        <translation>아니요, %1 부족</translation>
    </message>
    <message>
        <source>Samples in a step</source>
        <translation>스텝당 샘플 수</translation>
    </message>
    <message>
        <source>The global batch: training.global_batch_size, or training.local_batch_size on every GPU.</source>
        <translation>전체 배치: training.global_batch_size, 또는 GPU마다 training.local_batch_size.</translation>
    </message>
</context>
<context>
    <name>shardscope::gui::KnobPanel</name>
    <message>
        <source>Knobs</source>
        <translation>설정값</translation>
    </message>
    <message>
        <source>Find a knob</source>
        <translation>설정값 찾기</translation>
    </message>
    <message>
        <source>Title</source>
        <translation>제목</translation>
    </message>
    <message>
        <source>Default: %1.</source>
        <translation>기본값: %1.</translation>
    </message>
</context>
<context>
    <name>shardscope::gui::Legend</name>
    <message>
        <source>Legend</source>
        <translation>범례</translation>
    </message>
    <message>
        <source>a rank waits for a transfer</source>
        <translation>랭크가 전송을 기다림</translation>
    </message>
</context>
<context>
    <name>shardscope::gui::MainWindow</name>
    <message>
        <source>What is shown is the scenario before the last change.</source>
        <translation>화면에 보이는 것은 마지막 변경 이전의 시나리오입니다.</translation>
    </message>
    <message>
        <source>The kept plan %1 could not be made again and is left out. %2</source>
        <translation>고정한 계획 %1을(를) 다시 만들 수 없어 뺐습니다. %2</translation>
    </message>
    <message>
        <source>Nothing is called “%1”.</source>
        <translation>이름에 “%1”이(가) 들어간 것이 없습니다.</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%2개 중 %1번째</translation>
    </message>
    <message>
        <source>Differences</source>
        <translation>차이</translation>
    </message>
    <message>
        <source>Details</source>
        <translation>상세 정보</translation>
    </message>
    <message>
        <source>Knobs</source>
        <translation>설정값</translation>
    </message>
    <message>
        <source>Search an op  ( / )</source>
        <translation>연산(op) 찾기  ( / )</translation>
    </message>
    <message>
        <source>Search an op</source>
        <translation>연산(op) 찾기</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>취소</translation>
    </message>
    <message>
        <source>Close this message</source>
        <translation>이 메시지 닫기</translation>
    </message>
    <message>
        <source>Keys</source>
        <translation>단축키</translation>
    </message>
    <message>
        <source>All commands</source>
        <translation>모든 명령</translation>
    </message>
    <message>
        <source>Filter commands</source>
        <translation>명령 거르기</translation>
    </message>
    <message>
        <source>Sweep</source>
        <translation>값 훑기</translation>
    </message>
    <message>
        <source>Cancelled. What is shown is the scenario before the last change.</source>
        <translation>취소했습니다. 화면에 보이는 것은 마지막 변경 이전의 시나리오입니다.</translation>
    </message>
    <message>
        <source>One strategy at least is shown. Choose another one first.</source>
        <translation>전략은 적어도 하나 표시합니다. 먼저 다른 전략을 고르세요.</translation>
    </message>
    <message>
        <source>%1 is kept already.</source>
        <translation>%1: 이미 고정되어 있습니다.</translation>
    </message>
    <message>
        <source>%1 plans are kept, which is the most. Drop one first.</source>
        <translation>계획은 %1개까지 고정할 수 있습니다. 먼저 하나를 빼세요.</translation>
    </message>
    <message>
        <source>%1 stays on the page. Turn a knob to see what changes against it.</source>
        <translation>%1: 화면에 고정했습니다. 설정을 바꾸면 이 계획과 비교해 보여 줍니다.</translation>
    </message>
    <message>
        <source>No plan is kept.</source>
        <translation>고정한 계획이 없습니다.</translation>
    </message>
    <message>
        <source>Every rank is drawn by itself already.</source>
        <translation>이미 모든 랭크를 따로 표시하고 있습니다.</translation>
    </message>
    <message>
        <source>One of identical ranks</source>
        <translation>똑같은 랭크 중 하나</translation>
    </message>
    <message>
        <source>%1: which rank, from %2 to %3?</source>
        <translation>%1: %2부터 %3까지 중 어느 랭크를 볼까요?</translation>
    </message>
    <message>
        <source>Progress</source>
        <translation>진행</translation>
    </message>
    <message>
        <source>Statistics</source>
        <translation>통계</translation>
    </message>
    <message>
        <source>Table</source>
        <translation>표</translation>
    </message>
    <message>
        <source>There is nothing to continue.</source>
        <translation>이어서 할 것이 없습니다.</translation>
    </message>
    <message>
        <source>Of %1 files the first is opened.</source>
        <translation>파일 %1개 중 첫 번째를 엽니다.</translation>
    </message>
    <message>
        <source>Takes the panel out of the window, or puts it back</source>
        <translation>패널을 창 밖으로 꺼내거나 다시 넣기</translation>
    </message>
    <message>
        <source>Closes the panel</source>
        <translation>패널 닫기</translation>
    </message>
    <message>
        <source>Scroll left</source>
        <translation>왼쪽으로</translation>
    </message>
    <message>
        <source>Scroll right</source>
        <translation>오른쪽으로</translation>
    </message>
    <message>
        <source>Legend</source>
        <translation>범례</translation>
    </message>
    <message>
        <source>Predict with machine times…</source>
        <translation>기계의 시간으로 예측…</translation>
    </message>
    <message>
        <source>A run is what it was. Once it is predicted, a knob asks what if.</source>
        <translation>실행은 바뀌지 않습니다. 예측이 있으면 조절값으로 &apos;바꾼다면&apos;을 볼 수 있습니다.</translation>
    </message>
    <message>
        <source>The run is shown alone.</source>
        <translation>실행만 보입니다.</translation>
    </message>
    <message>
        <source>Machine times</source>
        <translation>기계의 시간</translation>
    </message>
    <message>
        <source>Machine times (*.json);;All files (*)</source>
        <translation>기계의 시간 (*.json);;모든 파일 (*)</translation>
    </message>
    <message>
        <source>The run is shown alone: it was written without --compare, so that it holds no times of its machine to predict it with. Choose the file that `shardscope calibrate -o` wrote there.</source>
        <translation>실행만 보입니다. --compare 없이 쓴 파일이라 예측에 쓸 기계의 시간이 들어 있지 않습니다. 그 기계에서 `shardscope calibrate -o`가 쓴 파일을 고르세요.</translation>
    </message>
</context>
<context>
    <name>shardscope::gui::MemoryTable</name>
    <message>
        <source>plan</source>
        <translation>계획</translation>
    </message>
    <message>
        <source>from</source>
        <translation>시작</translation>
    </message>
    <message>
        <source>in use</source>
        <translation>사용 중</translation>
    </message>
</context>
<context>
    <name>shardscope::gui::PieceTable</name>
    <message>
        <source>plan</source>
        <translation>계획</translation>
    </message>
    <message>
        <source>rank</source>
        <translation>랭크</translation>
    </message>
    <message>
        <source>stream</source>
        <translation>스트림</translation>
    </message>
    <message>
        <source>what</source>
        <translation>종류</translation>
    </message>
    <message>
        <source>from</source>
        <translation>시작</translation>
    </message>
    <message>
        <source>to</source>
        <translation>끝</translation>
    </message>
    <message>
        <source>takes</source>
        <translation>걸린 시간</translation>
    </message>
    <message>
        <source>payload</source>
        <translation>전송 데이터</translation>
    </message>
</context>
<context>
    <name>shardscope::gui::PlanBar</name>
    <message>
        <source>Drop the kept plan %1</source>
        <translation>고정한 계획 %1 빼기</translation>
    </message>
</context>
<context>
    <name>shardscope::gui::RangeModel</name>
    <message>
        <source>of no unit</source>
        <translation>유닛 없음</translation>
    </message>
    <message>
        <source>%1: work</source>
        <translation>%1: 일</translation>
    </message>
    <message>
        <source>plan</source>
        <translation>계획</translation>
    </message>
    <message>
        <source>what</source>
        <translation>종류</translation>
    </message>
    <message>
        <source>count</source>
        <translation>개수</translation>
    </message>
    <message>
        <source>sum</source>
        <translation>합계</translation>
    </message>
    <message>
        <source>mean</source>
        <translation>평균</translation>
    </message>
    <message>
        <source>smallest</source>
        <translation>최소</translation>
    </message>
    <message>
        <source>largest</source>
        <translation>최대</translation>
    </message>
    <message>
        <source>share</source>
        <translation>비율</translation>
    </message>
</context>
<context>
    <name>shardscope::gui::RangePanel</name>
    <message>
        <source>%1 to %2: %3</source>
        <translation>%1부터 %2까지: %3</translation>
    </message>
    <message>
        <source>The whole step. Shift + drag over the timeline chooses a stretch of it.</source>
        <translation>스텝 전체입니다. 타임라인에서 Shift + 끌기로 구간을 고르세요.</translation>
    </message>
    <message>
        <source>Sum up by</source>
        <translation>합계 기준</translation>
    </message>
    <message>
        <source>by kind</source>
        <translation>종류별</translation>
    </message>
    <message>
        <source>by unit</source>
        <translation>유닛별</translation>
    </message>
    <message>
        <source>by rank</source>
        <translation>랭크별</translation>
    </message>
    <message>
        <source>Statistics</source>
        <translation>통계</translation>
    </message>
</context>
<context>
    <name>shardscope::gui::StartPage</name>
    <message>
        <source>The lecture: a vision transformer on four GPUs</source>
        <translation>강의 예제: GPU 4개에서 학습하는 비전 트랜스포머</translation>
    </message>
    <message>
        <source>12 blocks; layers placed one after another against FSDP</source>
        <translation>블록 12개, 레이어를 차례로 배치하는 방식과 FSDP의 비교</translation>
    </message>
    <message>
        <source>Llama-3.1-8B on 8 x H100</source>
        <translation>H100 8개에서 학습하는 Llama-3.1-8B</translation>
    </message>
    <message>
        <source>One node; sequences of 4,096 tokens</source>
        <translation>노드 1개, 토큰 4,096개짜리 시퀀스</translation>
    </message>
    <message>
        <source>Llama-3.1-70B on 4 nodes of 8 x H100</source>
        <translation>H100 8개짜리 노드 4개에서 학습하는 Llama-3.1-70B</translation>
    </message>
    <message>
        <source>32 GPUs; sequences of 4,096 tokens</source>
        <translation>GPU 32개, 토큰 4,096개짜리 시퀀스</translation>
    </message>
    <message>
        <source>Where do my GPUs wait, and what would happen if I sharded differently?</source>
        <translation>내 GPU는 어디에서 기다리고, 다르게 샤딩하면 어떻게 달라질까요?</translation>
    </message>
    <message>
        <source>Start with a sample</source>
        <translation>예제로 시작하기</translation>
    </message>
    <message>
        <source>Opened lately</source>
        <translation>최근에 연 파일</translation>
    </message>
    <message>
        <source>Open a file…</source>
        <translation>파일 열기…</translation>
    </message>
    <message>
        <source>Continue where you were</source>
        <translation>하던 곳에서 계속</translation>
    </message>
    <message>
        <source>Or drop a scenario, a config.json, a model&apos;s folder or a run on this window.</source>
        <translation>또는 시나리오, config.json, 모델 폴더, 실행 파일을 이 창에 끌어다 놓으세요.</translation>
    </message>
</context>
<context>
    <name>shardscope::gui::SweepPanel</name>
    <message>
        <source>Give values separated by commas, such as 2,4,8.</source>
        <translation>값을 쉼표로 나누어 적어 주세요. 예: 2,4,8</translation>
    </message>
    <message>
        <source>does not fit</source>
        <translation>메모리 부족</translation>
    </message>
    <message>
        <source>Step</source>
        <translation>스텝</translation>
    </message>
    <message>
        <source>Knob to turn</source>
        <translation>바꿀 설정값</translation>
    </message>
    <message>
        <source>Values, separated by commas</source>
        <translation>쉼표로 나눈 값</translation>
    </message>
    <message>
        <source>Sweep</source>
        <translation>값 훑기</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>취소</translation>
    </message>
    <message>
        <source>Points of the sweep</source>
        <translation>훑은 지점</translation>
    </message>
    <message>
        <source>Value</source>
        <translation>값</translation>
    </message>
    <message>
        <source>Plan</source>
        <translation>계획</translation>
    </message>
    <message>
        <source>A run is not swept. Open its model or scenario for that.</source>
        <translation>실행은 훑을 수 없습니다. 훑으려면 그 모델이나 시나리오를 여세요.</translation>
    </message>
</context>
<context>
    <name>shardscope::gui::TablePanel</name>
    <message>
        <source>Picture to show as a table</source>
        <translation>표로 볼 그림</translation>
    </message>
    <message>
        <source>Timeline: what is in view</source>
        <translation>타임라인: 보이는 구간</translation>
    </message>
    <message>
        <source>Memory: what is in view</source>
        <translation>메모리: 보이는 구간</translation>
    </message>
    <message>
        <source>Sweep</source>
        <translation>값 훑기</translation>
    </message>
    <message>
        <source>Copy the table as CSV</source>
        <translation>표를 CSV로 복사</translation>
    </message>
    <message>
        <source>Copy the table as Markdown</source>
        <translation>표를 Markdown으로 복사</translation>
    </message>
    <message>
        <source>Table</source>
        <translation>표</translation>
    </message>
</context>
<context>
    <name>shardscope::gui::TimelineView</name>
    <message>
        <source>Timeline</source>
        <translation>타임라인</translation>
    </message>
    <message>
        <source>%1 in use at %2</source>
        <translation>%2 시점에 %1 사용 중</translation>
    </message>
    <message>
        <source>Kept for comparison:</source>
        <translation>비교용으로 고정:</translation>
    </message>
    <message>
        <source>%1 ranks that do the same at the same time, drawn once. Click to see them one by one.</source>
        <translation>같은 때에 같은 일을 하는 랭크 %1개를 한 번만 그렸습니다. 클릭하면 하나씩 보여 줍니다.</translation>
    </message>
    <message>
        <source>One of %1 ranks that do the same at the same time. Click to draw them once.</source>
        <translation>같은 때에 같은 일을 하는 랭크 %1개 중 하나입니다. 클릭하면 한 번만 그립니다.</translation>
    </message>
    <message>
        <source>from %1 to %2</source>
        <translation>%1부터 %2까지</translation>
    </message>
    <message>
        <source>%1: compute / step = %2 / %3 = %4 %</source>
        <translation>%1: 연산 / 스텝 = %2 / %3 = %4 %</translation>
    </message>
    <message>
        <source>%1 of %2 that a GPU can use</source>
        <translation>GPU가 쓸 수 있는 %2의 %1</translation>
    </message>
    <message>
        <source>last step %1</source>
        <translation>마지막 스텝 %1</translation>
    </message>
</context>
</TS>
