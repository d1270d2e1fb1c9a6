<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="ko_KR" sourcelanguage="en">
<context>
    <name>Message</name>
    <message>
        <source>true or false</source>
        <translation>true 또는 false</translation>
    </message>
    <message>
        <source>an integer</source>
        <translation>정수</translation>
    </message>
    <message>
        <source>a real number</source>
        <translation>실수</translation>
    </message>
    <message>
        <source>a number</source>
        <translation>수</translation>
    </message>
    <message>
        <source>a table</source>
        <translation>표</translation>
    </message>
    <message>
        <source>a text</source>
        <translation>글</translation>
    </message>
    <message>
        <source>a string</source>
        <translation>글</translation>
    </message>
    <message>
        <source>text</source>
        <translation>글</translation>
    </message>
    <message>
        <source>a list</source>
        <translation>목록</translation>
    </message>
    <message>
        <source>nothing</source>
        <translation>없음</translation>
    </message>
    <message>
        <source>one of: %1</source>
        <translation>다음 중 하나: %1</translation>
    </message>
    <message>
        <source>an integer from %1 to %2</source>
        <translation>%1~%2의 정수</translation>
    </message>
    <message>
        <source>an integer from %1 to %2 (%3)</source>
        <translation>%1~%2의 정수 (%3)</translation>
    </message>
    <message>
        <source>float32, bfloat16, float16 or float64</source>
        <translation>float32, bfloat16, float16, float64 중 하나</translation>
    </message>
    <message>
        <source>float32, bfloat16, float16, float64 or none</source>
        <translation>float32, bfloat16, float16, float64, none 중 하나</translation>
    </message>
    <message>
        <source>&quot;default&quot;, &quot;always&quot;, &quot;never&quot;, &quot;unset&quot;, true, false or a group size</source>
        <translation>&quot;default&quot;, &quot;always&quot;, &quot;never&quot;, &quot;unset&quot;, true, false 중 하나이거나 그룹 크기</translation>
    </message>
    <message>
        <source>a list of module names or of lists of them</source>
        <translation>모듈 이름의 목록 또는 그런 목록의 목록</translation>
    </message>
    <message>
        <source>a table of unit names with true, false, a word or a group size</source>
        <translation>유닛 이름마다 true, false, 낱말, 그룹 크기 중 하나를 적은 표</translation>
    </message>
    <message>
        <source>a preset&apos;s name or a table</source>
        <translation>프리셋 이름 또는 표</translation>
    </message>
    <message>
        <source>a group size from %1 to %2</source>
        <translation>%1~%2의 그룹 크기</translation>
    </message>
    <message>
        <source>at least %1</source>
        <translation>%1 이상</translation>
    </message>
    <message>
        <source>at most %1</source>
        <translation>%1 이하</translation>
    </message>
    <message>
        <source>one of %1</source>
        <translation>다음 중 하나: %1</translation>
    </message>
    <message>
        <source>a whole number</source>
        <translation>정수</translation>
    </message>
    <message>
        <source>a whole number from 1 to 2^31</source>
        <translation>1~2^31의 정수</translation>
    </message>
    <message>
        <source>a section</source>
        <translation>섹션</translation>
    </message>
    <message>
        <source>an expected one</source>
        <translation>기대한 값</translation>
    </message>
    <message>
        <source>found %1, expected %2</source>
        <translation>받은 값은 %1, 필요한 값은 %2</translation>
    </message>
    <message>
        <source>%1: found %2, expected %3</source>
        <translation>%1: 받은 값은 %2, 필요한 값은 %3</translation>
    </message>
    <message>
        <source>%1 %2, expected %3</source>
        <translation>%1 %2, 필요한 값은 %3</translation>
    </message>
    <message>
        <source>found %1</source>
        <translation>받은 값은 %1</translation>
    </message>
    <message>
        <source>%1, expected one of %2</source>
        <translation>%1, 필요한 값은 다음 중 하나: %2</translation>
    </message>
    <message>
        <source>did you mean %1?</source>
        <translation>혹시 %1?</translation>
    </message>
    <message>
        <source>known are: %1</source>
        <translation>아는 것: %1</translation>
    </message>
    <message>
        <source>no such key</source>
        <translation>그런 키가 없습니다</translation>
    </message>
    <message>
        <source>no such section</source>
        <translation>그런 섹션이 없습니다</translation>
    </message>
    <message>
        <source>it belongs in [%1]</source>
        <translation>[%1]에 속하는 키입니다</translation>
    </message>
    <message>
        <source>docs/scenario.md lists the keys</source>
        <translation>키의 목록은 docs/scenario.md에 있습니다</translation>
    </message>
    <message>
        <source>the key &quot;%1&quot; is there twice in one table</source>
        <translation>한 표에 키 &quot;%1&quot;이(가) 두 번 있습니다</translation>
    </message>
    <message>
        <source>names like it: %1</source>
        <translation>비슷한 이름: %1</translation>
    </message>
    <message>
        <source>names like it: %1; a file or folder can be given instead</source>
        <translation>비슷한 이름: %1. 파일이나 폴더를 주어도 됩니다</translation>
    </message>
    <message>
        <source>every %1th of %2 blocks is checkpointed, which is none</source>
        <translation>블록 %2개 가운데 %1번째마다 체크포인트하면 해당하는 블록이 없습니다</translation>
    </message>
    <message>
        <source>use at most %1, or set training.activation_checkpoint = &quot;none&quot;</source>
        <translation>%1 이하로 하거나 training.activation_checkpoint = &quot;none&quot;으로 하세요</translation>
    </message>
    <message>
        <source>given twice: also at %1</source>
        <translation>두 번 적혔습니다. 다른 곳: %1</translation>
    </message>
    <message>
        <source>keep one of the two</source>
        <translation>둘 중 하나만 남기세요</translation>
    </message>
    <message>
        <source>expected section.key=value</source>
        <translation>section.key=value 꼴이어야 합니다</translation>
    </message>
    <message>
        <source>for example %1</source>
        <translation>예: %1</translation>
    </message>
    <message>
        <source>this is no UTF-8 text</source>
        <translation>UTF-8 글이 아닙니다</translation>
    </message>
    <message>
        <source>a text of more than 4,096 characters</source>
        <translation>4,096자를 넘는 글입니다</translation>
    </message>
    <message>
        <source>shorten it</source>
        <translation>줄이세요</translation>
    </message>
    <message>
        <source>choose a divisor of the shard degree, or true, false, &quot;default&quot;</source>
        <translation>샤드 수의 약수나 true, false, &quot;default&quot;를 고르세요</translation>
    </message>
    <message>
        <source>cancelled</source>
        <translation>취소했습니다</translation>
    </message>
    <message>
        <source>no such file or folder</source>
        <translation>그런 파일이나 폴더가 없습니다</translation>
    </message>
    <message>
        <source>check the path</source>
        <translation>경로를 확인하세요</translation>
    </message>
    <message>
        <source>&quot;%1&quot; is neither a file, a folder nor a built-in model</source>
        <translation>&quot;%1&quot;: 파일도 폴더도 내장 모델도 아닙니다</translation>
    </message>
    <message>
        <source>no built-in model &quot;%1&quot;</source>
        <translation>내장 모델 &quot;%1&quot;이(가) 없습니다</translation>
    </message>
    <message>
        <source>a file or folder can be given instead</source>
        <translation>파일이나 폴더를 주어도 됩니다</translation>
    </message>
    <message>
        <source>cannot open: %1</source>
        <translation>열 수 없습니다: %1</translation>
    </message>
    <message>
        <source>cannot read: %1</source>
        <translation>읽을 수 없습니다: %1</translation>
    </message>
    <message>
        <source>No such file or directory</source>
        <translation>그런 파일이나 폴더가 없습니다</translation>
    </message>
    <message>
        <source>Permission denied</source>
        <translation>권한이 없습니다</translation>
    </message>
    <message>
        <source>Is a directory</source>
        <translation>폴더입니다</translation>
    </message>
    <message>
        <source>No space left on device</source>
        <translation>디스크에 남은 자리가 없습니다</translation>
    </message>
    <message>
        <source>Read-only file system</source>
        <translation>읽기 전용 파일 시스템입니다</translation>
    </message>
    <message>
        <source>Not a directory</source>
        <translation>폴더가 아닙니다</translation>
    </message>
    <message>
        <source>File too large</source>
        <translation>파일이 너무 큽니다</translation>
    </message>
    <message>
        <source>File name too long</source>
        <translation>파일 이름이 너무 깁니다</translation>
    </message>
    <message>
        <source>see that it is there and that you may read it</source>
        <translation>그 파일이 있고 읽을 권한이 있는지 확인하세요</translation>
    </message>
    <message>
        <source>this is a folder, a file is needed</source>
        <translation>폴더입니다. 파일이 필요합니다</translation>
    </message>
    <message>
        <source>name a file in it</source>
        <translation>그 안의 파일을 고르세요</translation>
    </message>
    <message>
        <source>this is a pipe, a regular file is needed</source>
        <translation>파이프입니다. 보통 파일이 필요합니다</translation>
    </message>
    <message>
        <source>this is a device or a socket, a regular file is needed</source>
        <translation>장치이거나 소켓입니다. 보통 파일이 필요합니다</translation>
    </message>
    <message>
        <source>write what it gives into a file, and name that</source>
        <translation>내용을 파일로 저장하고 그 파일을 고르세요</translation>
    </message>
    <message>
        <source>larger than the %1 bytes that a file of this kind may have</source>
        <translation>이런 파일에 허용되는 %1바이트보다 큽니다</translation>
    </message>
    <message>
        <source>name a scenario, a config.json, a cluster or a module-tree file</source>
        <translation>시나리오, config.json, 클러스터 파일, 모듈 트리 파일 중 하나를 고르세요</translation>
    </message>
    <message>
        <source>cannot list this folder: %1</source>
        <translation>이 폴더의 목록을 읽을 수 없습니다: %1</translation>
    </message>
    <message>
        <source>see that you may read it, or name a file in it</source>
        <translation>읽을 권한이 있는지 확인하거나 그 안의 파일을 고르세요</translation>
    </message>
    <message>
        <source>no config.json, no model.safetensors.index.json and no .safetensors file here</source>
        <translation>여기에는 config.json도 model.safetensors.index.json도 .safetensors 파일도 없습니다</translation>
    </message>
    <message>
        <source>name a Hugging Face folder, one of these files, or a built-in model</source>
        <translation>Hugging Face 폴더나 이런 파일, 또는 내장 모델을 고르세요</translation>
    </message>
    <message>
        <source>no model: neither a config.json (model_type), nor an index of safetensors (weight_map), nor a module tree (modules)</source>
        <translation>모델이 아닙니다: config.json(model_type)도, safetensors 색인(weight_map)도, 모듈 트리(modules)도 아닙니다</translation>
    </message>
    <message>
        <source>docs/model-tree.md describes module trees</source>
        <translation>모듈 트리는 docs/model-tree.md에 설명되어 있습니다</translation>
    </message>
    <message>
        <source>both model.name and model.path are given</source>
        <translation>model.name과 model.path가 둘 다 적혀 있습니다</translation>
    </message>
    <message>
        <source>no model is given</source>
        <translation>모델이 없습니다</translation>
    </message>
    <message>
        <source>set model.name to a built-in model or model.path to a file or folder</source>
        <translation>model.name에 내장 모델을, 또는 model.path에 파일이나 폴더를 적으세요</translation>
    </message>
    <message>
        <source>%1 shards; at most %2 are read</source>
        <translation>샤드 파일이 %1개입니다. %2개까지 읽습니다</translation>
    </message>
    <message>
        <source>name the config.json instead</source>
        <translation>대신 config.json을 고르세요</translation>
    </message>
    <message>
        <source>%1; its weights were looked at because %2: %3</source>
        <translation>%1. 가중치를 대신 읽은 까닭: %2: %3</translation>
    </message>
    <message>
        <source>standard output shows the tables; no file is written to it</source>
        <translation>표준 출력에는 표를 보여 주므로 파일을 쓰지 않습니다</translation>
    </message>
    <message>
        <source>name a file, or print the report with --json</source>
        <translation>파일을 고르거나 --json으로 출력하세요</translation>
    </message>
    <message>
        <source>this ending says nothing about the kind of file</source>
        <translation>이 확장자로는 파일의 종류를 알 수 없습니다</translation>
    </message>
    <message>
        <source>known are: .svg, .png, .pdf, .json, .json.gz, .csv</source>
        <translation>아는 확장자: .svg, .png, .pdf, .json, .json.gz, .csv</translation>
    </message>
    <message>
        <source>there is no folder %1</source>
        <translation>%1 폴더가 없습니다</translation>
    </message>
    <message>
        <source>make it first</source>
        <translation>먼저 만드세요</translation>
    </message>
    <message>
        <source>cannot write</source>
        <translation>쓸 수 없습니다</translation>
    </message>
    <message>
        <source>cannot write: %1</source>
        <translation>쓸 수 없습니다: %1</translation>
    </message>
    <message>
        <source>cannot create: %1</source>
        <translation>만들 수 없습니다: %1</translation>
    </message>
    <message>
        <source>free some space, or write to another place with -o</source>
        <translation>자리를 비우거나 다른 곳에 저장하세요</translation>
    </message>
    <message>
        <source>choose a place that you may write to with -o</source>
        <translation>쓸 권한이 있는 곳을 고르세요</translation>
    </message>
    <message>
        <source>create the folder first</source>
        <translation>먼저 폴더를 만드세요</translation>
    </message>
    <message>
        <source>cannot rename the finished file: %1</source>
        <translation>다 쓴 파일의 이름을 바꿀 수 없습니다: %1</translation>
    </message>
    <message>
        <source>the picture cannot be %1: %2</source>
        <translation>그림을 만들 수 없습니다(%1): %2</translation>
    </message>
    <message>
        <source>write the .svg and convert it with another program</source>
        <translation>.svg로 저장한 뒤 다른 프로그램으로 변환하세요</translation>
    </message>
    <message>
        <source>%1 x %2 pixels, at most %3 a side</source>
        <translation>%1 x %2 픽셀, 한 변은 %3 이하</translation>
    </message>
    <message>
        <source>no valid JSON</source>
        <translation>올바른 JSON이 아닙니다</translation>
    </message>
    <message>
        <source>no valid JSON: found a NUL byte</source>
        <translation>올바른 JSON이 아닙니다: NUL 바이트가 있습니다</translation>
    </message>
    <message>
        <source>no valid JSON: found more than %1 levels of nesting</source>
        <translation>올바른 JSON이 아닙니다: %1단계보다 깊이 겹쳤습니다</translation>
    </message>
    <message>
        <source>no valid JSON: found an empty file, expected JSON</source>
        <translation>올바른 JSON이 아닙니다: 파일이 비었습니다</translation>
    </message>
    <message>
        <source>found more than %1 levels of nesting</source>
        <translation>%1단계보다 깊이 겹쳤습니다</translation>
    </message>
    <message>
        <source>found an empty file, expected JSON</source>
        <translation>파일이 비어 있습니다. JSON이 있어야 합니다</translation>
    </message>
    <message>
        <source>see that it was written or downloaded whole</source>
        <translation>끝까지 쓰였거나 내려받아졌는지 확인하세요</translation>
    </message>
    <message>
        <source>this is a file of another kind, or a damaged one</source>
        <translation>다른 종류의 파일이거나 망가진 파일입니다</translation>
    </message>
    <message>
        <source>not valid TOML: tables and lists nest deeper than %1</source>
        <translation>올바른 TOML이 아닙니다: 표와 목록이 %1단계보다 깊이 겹쳤습니다</translation>
    </message>
    <message>
        <source>not valid TOML: a key of more than %1 dotted parts</source>
        <translation>올바른 TOML이 아닙니다: 키의 점 구분이 %1개를 넘습니다</translation>
    </message>
    <message>
        <source>TOML 1.0 is described at https://toml.io/en/v1.0.0</source>
        <translation>TOML 1.0은 https://toml.io/ko/v1.0.0 에 설명되어 있습니다</translation>
    </message>
    <message>
        <source>%1: found %2, which does not divide %3 %4</source>
        <translation>%1: 받은 값은 %2, %3 %4을(를) 나누지 못합니다</translation>
    </message>
    <message>
        <source>%1: found %2, expected an even number (rotary embedding)</source>
        <translation>%1: 받은 값은 %2, 짝수여야 합니다 (rotary embedding)</translation>
    </message>
    <message>
        <source>found %1, which does not divide %2 %3</source>
        <translation>받은 값은 %1, %2 %3을(를) 나누지 못합니다</translation>
    </message>
    <message>
        <source>found %1, expected at least 0 and below 1</source>
        <translation>받은 값은 %1, 0 이상 1 미만이어야 합니다</translation>
    </message>
    <message>
        <source>found %1, expected &apos;%2&apos;</source>
        <translation>받은 값은 %1, 필요한 값은 &apos;%2&apos;</translation>
    </message>
    <message>
        <source>this activation&apos;s kernels are not modelled</source>
        <translation>이 활성화 함수의 커널은 모델링되어 있지 않습니다</translation>
    </message>
    <message>
        <source>found true, expected a decoder without an encoder</source>
        <translation>받은 값은 true, 인코더 없는 디코더만 됩니다</translation>
    </message>
    <message>
        <source>give the model&apos;s .safetensors files instead: its shapes are then exact</source>
        <translation>대신 모델의 .safetensors 파일을 주세요. 그러면 모양이 정확합니다</translation>
    </message>
    <message>
        <source>add it, or give the model&apos;s .safetensors file or index instead: its shapes are then exact</source>
        <translation>추가하거나, 대신 모델의 .safetensors 파일이나 색인을 주세요. 그러면 모양이 정확합니다</translation>
    </message>
    <message>
        <source>give the model&apos;s .safetensors files (or the folder that holds them) instead: its shapes are then exact, its matrix products counted, attention left out</source>
        <translation>대신 모델의 .safetensors 파일(또는 그 폴더)을 주세요. 그러면 모양이 정확하고 행렬 곱을 셈하며, 어텐션은 빠집니다</translation>
    </message>
    <message>
        <source>correct this size in the config.json or the scenario</source>
        <translation>config.json이나 시나리오에서 이 크기를 고치세요</translation>
    </message>
    <message>
        <source>this model type has no default for it</source>
        <translation>이 모델 종류에는 기본값이 없습니다</translation>
    </message>
    <message>
        <source>a list of integers</source>
        <translation>정수 목록</translation>
    </message>
    <message>
        <source>a list of words</source>
        <translation>낱말 목록</translation>
    </message>
    <message>
        <source>integers from %1 to 2^31</source>
        <translation>%1~2^31의 정수</translation>
    </message>
    <message>
        <source>%1 numbers that are not two equal ones</source>
        <translation>서로 같은 두 수가 아닌 수 %1개</translation>
    </message>
    <message>
        <source>a square</source>
        <translation>정사각형</translation>
    </message>
    <message>
        <source>oblong images and patches are not modelled</source>
        <translation>정사각형이 아닌 이미지와 패치는 모델링되어 있지 않습니다</translation>
    </message>
    <message>
        <source>at least %1 and below %2</source>
        <translation>%1 이상 %2 미만</translation>
    </message>
    <message>
        <source>%1 entries</source>
        <translation>항목 %1개</translation>
    </message>
    <message>
        <source>num_hidden_layers %1</source>
        <translation>num_hidden_layers %1</translation>
    </message>
    <message>
        <source>%1 is beyond 2^31</source>
        <translation>%1: 2^31을 넘습니다</translation>
    </message>
    <message>
        <source>its kernels are not modelled</source>
        <translation>그 커널은 모델링되어 있지 않습니다</translation>
    </message>
    <message>
        <source>a sequence of %1 tokens</source>
        <translation>토큰 %1개의 시퀀스</translation>
    </message>
    <message>
        <source>at most %1 where each has a norm</source>
        <translation>저마다 정규화가 있을 때는 %1 이하</translation>
    </message>
    <message>
        <source>at most the %1 experts</source>
        <translation>전문가 %1개 이하</translation>
    </message>
    <message>
        <source>at most the %1 positions before it</source>
        <translation>그 앞의 위치 %1개 이하</translation>
    </message>
    <message>
        <source>a rotary embedding over %1 dimensions of a head</source>
        <translation>헤드의 %1개 차원에 걸친 rotary embedding</translation>
    </message>
    <message>
        <source>an even number</source>
        <translation>짝수</translation>
    </message>
    <message>
        <source>%1: found &apos;%2&apos;, whose %3 are not modelled</source>
        <translation>%1: 받은 값은 &apos;%2&apos;, %3은(는) 모델링되어 있지 않습니다</translation>
    </message>
    <message>
        <source>state-space blocks</source>
        <translation>상태 공간 블록</translation>
    </message>
    <message>
        <source>recurrent states</source>
        <translation>순환 상태</translation>
    </message>
    <message>
        <source>convolutional stages</source>
        <translation>합성곱 단계</translation>
    </message>
    <message>
        <source>below vocab_size %1</source>
        <translation>vocab_size %1 미만</translation>
    </message>
    <message>
        <source>the row of the padding token must be in the table</source>
        <translation>채움 토큰의 행이 표 안에 있어야 합니다</translation>
    </message>
    <message>
        <source>kinds for %1 layers</source>
        <translation>층 %1개의 종류</translation>
    </message>
    <message>
        <source>num_layers %1</source>
        <translation>num_layers %1</translation>
    </message>
    <message>
        <source>another form</source>
        <translation>다른 형식</translation>
    </message>
    <message>
        <source>transformers builds MPT without biases</source>
        <translation>transformers는 MPT를 편향 없이 만듭니다</translation>
    </message>
    <message>
        <source>an encoder</source>
        <translation>인코더</translation>
    </message>
    <message>
        <source>this model type is modelled as an encoder only</source>
        <translation>이 모델 종류는 인코더로만 모델링되어 있습니다</translation>
    </message>
    <message>
        <source>%1: found %2 stages and heads for %3, expected as many, at most 16</source>
        <translation>%1: 받은 것은 단계 %2개와 헤드 %3개, 16개 이하로 같아야 합니다</translation>
    </message>
    <message>
        <source>%1 blocks</source>
        <translation>블록 %1개</translation>
    </message>
    <message>
        <source>at most hidden_size %1</source>
        <translation>hidden_size %1 이하</translation>
    </message>
    <message>
        <source>at most image_size %1</source>
        <translation>image_size %1 이하</translation>
    </message>
    <message>
        <source>adapters are not modelled</source>
        <translation>어댑터는 모델링되어 있지 않습니다</translation>
    </message>
    <message>
        <source>%1: found %2 widths, %3 kernels and %4 strides, expected as many of each</source>
        <translation>%1: 받은 것은 너비 %2개, 커널 %3개, 보폭 %4개, 서로 같아야 합니다</translation>
    </message>
    <message>
        <source>this model&apos;s sequence follows from its images or sounds</source>
        <translation>이 모델의 시퀀스는 이미지나 소리에서 나옵니다</translation>
    </message>
    <message>
        <source>leave seq_len out</source>
        <translation>seq_len을 빼세요</translation>
    </message>
    <message>
        <source>this model&apos;s config.json states no such size</source>
        <translation>이 모델의 config.json에는 그런 크기가 적혀 있지 않습니다</translation>
    </message>
    <message>
        <source>parameter %1: %2</source>
        <translation>매개변수 %1: %2</translation>
    </message>
    <message>
        <source>found no name, expected a text</source>
        <translation>이름이 없습니다, 글이어야 합니다</translation>
    </message>
    <message>
        <source>parameters: found nothing, expected a list of tables</source>
        <translation>parameters: 없습니다, 표의 목록이어야 합니다</translation>
    </message>
    <message>
        <source>write the file with examples/export_module.py of this version</source>
        <translation>이 버전의 examples/export_module.py로 파일을 쓰세요</translation>
    </message>
    <message>
        <source>model_type: found &apos;%1&apos;, expected one of %2</source>
        <translation>model_type: 받은 값은 &apos;%1&apos;, 필요한 값은 다음 중 하나: %2</translation>
    </message>
    <message>
        <source>found &apos;%1&apos;, expected one of %2</source>
        <translation>받은 값은 &apos;%1&apos;, 필요한 값은 다음 중 하나: %2</translation>
    </message>
    <message>
        <source>head_dim is hidden_size / num_attention_heads where the file does not state it</source>
        <translation>파일에 적혀 있지 않으면 head_dim은 hidden_size / num_attention_heads입니다</translation>
    </message>
    <message>
        <source>architectures: found &apos;%1&apos;, expected a class with a language-model head (...ForCausalLM)</source>
        <translation>architectures: 받은 값은 &apos;%1&apos;, 언어 모델 헤드가 있는 클래스(...ForCausalLM)여야 합니다</translation>
    </message>
    <message>
        <source>num_attention_heads %1 times head_dim %2 is beyond 2^31</source>
        <translation>num_attention_heads %1 x head_dim %2: 2^31을 넘습니다</translation>
    </message>
    <message>
        <source>n_head %1 times head_dim %2 is not n_embd %3</source>
        <translation>n_head %1 x head_dim %2: n_embd %3과(와) 다릅니다</translation>
    </message>
    <message>
        <source>the norms&apos; epsilon: found %1, expected a small positive number</source>
        <translation>정규화의 epsilon: 받은 값은 %1, 작은 양수여야 합니다</translation>
    </message>
    <message>
        <source>sliding_window: found %1, expected a positive number</source>
        <translation>sliding_window: 받은 값은 %1, 양수여야 합니다</translation>
    </message>
    <message>
        <source>sequence length: found %1, expected at most n_positions %2</source>
        <translation>시퀀스 길이: 받은 값은 %1, n_positions %2 이하여야 합니다</translation>
    </message>
    <message>
        <source>the model has learnt no further positions; use shorter sequences</source>
        <translation>모델이 그보다 먼 위치를 배우지 않았습니다. 더 짧은 시퀀스를 쓰세요</translation>
    </message>
    <message>
        <source>missing</source>
        <translation>없습니다</translation>
    </message>
    <message>
        <source>%1 is missing</source>
        <translation>%1이(가) 없습니다</translation>
    </message>
    <message>
        <source>unknown key</source>
        <translation>모르는 키입니다</translation>
    </message>
    <message>
        <source>this model has no such size</source>
        <translation>이 모델에는 그런 크기가 없습니다</translation>
    </message>
    <message>
        <source>a vision transformer has layers, hidden, heads, mlp, image_size, patch_size, channels and classes</source>
        <translation>비전 트랜스포머의 크기: layers, hidden, heads, mlp, image_size, patch_size, channels, classes</translation>
    </message>
    <message>
        <source>a language model has layers, hidden, heads, kv_heads, head_dim, mlp and vocab</source>
        <translation>언어 모델의 크기: layers, hidden, heads, kv_heads, head_dim, mlp, vocab</translation>
    </message>
    <message>
        <source>change the sizes in the model&apos;s own file</source>
        <translation>모델의 파일에서 크기를 바꾸세요</translation>
    </message>
    <message>
        <source>hidden %1 is not divisible by %2 heads</source>
        <translation>hidden %1이(가) 헤드 %2개로 나누어지지 않습니다</translation>
    </message>
    <message>
        <source>choose sizes that divide, or give model.head_dim</source>
        <translation>나누어지는 크기를 고르거나 model.head_dim을 주세요</translation>
    </message>
    <message>
        <source>%1 kv_heads do not divide %2 heads</source>
        <translation>kv_heads %1개가 헤드 %2개를 나누지 못합니다</translation>
    </message>
    <message>
        <source>choose sizes that divide</source>
        <translation>나누어지는 크기를 고르세요</translation>
    </message>
    <message>
        <source>image size %1 is no multiple of the patch size %2</source>
        <translation>이미지 크기 %1이(가) 패치 크기 %2의 배수가 아닙니다</translation>
    </message>
    <message>
        <source>choose a patch size that divides the image</source>
        <translation>이미지를 나누는 패치 크기를 고르세요</translation>
    </message>
    <message>
        <source>%1 heads do not divide the hidden size %2</source>
        <translation>헤드 %1개가 hidden 크기 %2을(를) 나누지 못합니다</translation>
    </message>
    <message>
        <source>choose a number of heads that divides it</source>
        <translation>그것을 나누는 헤드 수를 고르세요</translation>
    </message>
    <message>
        <source>the image has %1 patches a side, expected at most 2^20</source>
        <translation>이미지의 한 변에 패치가 %1개입니다. 2^20 이하여야 합니다</translation>
    </message>
    <message>
        <source>the layers&apos; tensors would exceed 2^62 bytes</source>
        <translation>레이어의 텐서가 2^62바이트를 넘습니다</translation>
    </message>
    <message>
        <source>use a smaller batch</source>
        <translation>배치를 줄이세요</translation>
    </message>
    <message>
        <source>use a smaller batch or sequence</source>
        <translation>배치나 시퀀스를 줄이세요</translation>
    </message>
    <message>
        <source>use a smaller batch, sequence or model</source>
        <translation>배치, 시퀀스, 모델 중 하나를 줄이세요</translation>
    </message>
    <message>
        <source>correct this size</source>
        <translation>이 크기를 고치세요</translation>
    </message>
    <message>
        <source>every block is simulated; describe a model of fewer, wider blocks</source>
        <translation>블록을 하나하나 시뮬레이션합니다. 블록이 더 적고 넓은 모델을 쓰세요</translation>
    </message>
    <message>
        <source>the model is too large: its parameters or its work exceed 2^62</source>
        <translation>모델이 너무 큽니다: 파라미터나 연산량이 2^62를 넘습니다</translation>
    </message>
    <message>
        <source>check the sizes, the batch and the sequence length</source>
        <translation>크기, 배치, 시퀀스 길이를 확인하세요</translation>
    </message>
    <message>
        <source>a tensor or a kernel of %1 exceeds 2^62 bytes or FLOPs</source>
        <translation>%1의 텐서나 커널이 2^62바이트 또는 FLOP을 넘습니다</translation>
    </message>
    <message>
        <source>%1 rows of %2 exceed 2^62 bytes</source>
        <translation>%2의 %1행이 2^62바이트를 넘습니다</translation>
    </message>
    <message>
        <source>batch times sequence length exceeds 2^63</source>
        <translation>배치 x 시퀀스 길이가 2^63을 넘습니다</translation>
    </message>
    <message>
        <source>the number of blocks</source>
        <translation>블록 수</translation>
    </message>
    <message>
        <source>batch size</source>
        <translation>배치 크기</translation>
    </message>
    <message>
        <source>sequence length</source>
        <translation>시퀀스 길이</translation>
    </message>
    <message>
        <source>image size</source>
        <translation>이미지 크기</translation>
    </message>
    <message>
        <source>patch size</source>
        <translation>패치 크기</translation>
    </message>
    <message>
        <source>hidden size</source>
        <translation>hidden 크기</translation>
    </message>
    <message>
        <source>mlp size</source>
        <translation>mlp 크기</translation>
    </message>
    <message>
        <source>the file is no intact safetensors file; copy or download it again</source>
        <translation>온전한 safetensors 파일이 아닙니다. 다시 복사하거나 내려받으세요</translation>
    </message>
    <message>
        <source>found %1 bytes, expected at least %2</source>
        <translation>받은 값은 %1바이트, %2바이트 이상이어야 합니다</translation>
    </message>
    <message>
        <source>header length: found %1, expected at most %2</source>
        <translation>헤더 길이: 받은 값은 %1, %2 이하여야 합니다</translation>
    </message>
    <message>
        <source>header length: found %1, but the file has only %2 bytes after it</source>
        <translation>헤더 길이: 받은 값은 %1, 그 뒤로 파일에는 %2바이트뿐입니다</translation>
    </message>
    <message>
        <source>found %1 bytes, expected the %2 of the header</source>
        <translation>받은 값은 %1바이트, 헤더의 %2바이트가 있어야 합니다</translation>
    </message>
    <message>
        <source>header: expected JSON that starts with &apos;{&apos;</source>
        <translation>헤더: &apos;{&apos;로 시작하는 JSON이어야 합니다</translation>
    </message>
    <message>
        <source>found no tensors</source>
        <translation>텐서가 없습니다</translation>
    </message>
    <message>
        <source>name a file with the model&apos;s weights</source>
        <translation>모델의 가중치가 든 파일을 고르세요</translation>
    </message>
    <message>
        <source>found %1 tensors, expected at most %2</source>
        <translation>텐서가 %1개입니다. %2개 이하여야 합니다</translation>
    </message>
    <message>
        <source>name a config.json or a module-tree file instead</source>
        <translation>대신 config.json이나 모듈 트리 파일을 고르세요</translation>
    </message>
    <message>
        <source>the tensors take %1 bytes, the file holds %2 of data</source>
        <translation>텐서는 %1바이트인데 파일에는 데이터가 %2바이트 있습니다</translation>
    </message>
    <message>
        <source>data_offsets: end %1 before begin %2</source>
        <translation>data_offsets: 끝 %1이(가) 시작 %2보다 앞입니다</translation>
    </message>
    <message>
        <source>data_offsets: found %1 bytes, expected %2 for %3 of %4</source>
        <translation>data_offsets: 받은 값은 %1바이트, %4의 %3에는 %2바이트가 필요합니다</translation>
    </message>
    <message>
        <source>data_offsets: begins at byte %1, expected %2 (%3)</source>
        <translation>data_offsets: %1바이트에서 시작하는데 %2여야 합니다 (%3)</translation>
    </message>
    <message>
        <source>two tensors overlap</source>
        <translation>두 텐서가 겹칩니다</translation>
    </message>
    <message>
        <source>there is a hole</source>
        <translation>빈틈이 있습니다</translation>
    </message>
    <message>
        <source>shape: the number of elements overflows 63 bits at dimension %1</source>
        <translation>shape: 차원 %1에서 원소 수가 63비트를 넘습니다</translation>
    </message>
    <message>
        <source>shape: expected a list of integers</source>
        <translation>shape: 정수의 목록이어야 합니다</translation>
    </message>
    <message>
        <source>data_offsets: expected a list of two integers</source>
        <translation>data_offsets: 정수 두 개의 목록이어야 합니다</translation>
    </message>
    <message>
        <source>found no table weight_map, expected tensor names with the file of each</source>
        <translation>weight_map 표가 없습니다. 텐서 이름마다 파일이 적혀 있어야 합니다</translation>
    </message>
    <message>
        <source>name a model.safetensors.index.json as Hugging Face writes it</source>
        <translation>Hugging Face가 쓰는 model.safetensors.index.json을 고르세요</translation>
    </message>
    <message>
        <source>%1 of its %2 files are not there (the first: %3)</source>
        <translation>파일 %2개 중 %1개가 없습니다 (첫 번째: %3)</translation>
    </message>
    <message>
        <source>an index names files, not shapes: put the .safetensors files beside it, or give the config.json</source>
        <translation>색인에는 파일 이름만 있고 모양이 없습니다. 옆에 .safetensors 파일을 두거나 config.json을 주세요</translation>
    </message>
    <message>
        <source>tensor %1 is also in %2</source>
        <translation>텐서 %1이(가) %2에도 있습니다</translation>
    </message>
    <message>
        <source>keep one of the two files in this folder</source>
        <translation>이 폴더의 두 파일 중 하나만 남기세요</translation>
    </message>
    <message>
        <source>index and files do not belong together; download both again</source>
        <translation>색인과 파일이 서로 맞지 않습니다. 둘 다 다시 내려받으세요</translation>
    </message>
    <message>
        <source>list its modules in the order in which they run</source>
        <translation>실행되는 순서로 모듈을 적으세요</translation>
    </message>
    <message>
        <source>the model has no modules</source>
        <translation>모델에 모듈이 없습니다</translation>
    </message>
    <message>
        <source>unknown kind `%1`, expected one of %2</source>
        <translation>모르는 종류 `%1`, 필요한 값은 다음 중 하나: %2</translation>
    </message>
    <message>
        <source>unknown key `%1`</source>
        <translation>모르는 키 `%1`</translation>
    </message>
    <message>
        <source>give one of %1</source>
        <translation>다음 중 하나를 적으세요: %1</translation>
    </message>
    <message>
        <source>a module must be a table with `kind`</source>
        <translation>모듈은 `kind`가 있는 표여야 합니다</translation>
    </message>
    <message>
        <source>`modules` must be a list of tables</source>
        <translation>`modules`는 표의 목록이어야 합니다</translation>
    </message>
    <message>
        <source>two modules have this name</source>
        <translation>이름이 같은 모듈이 둘 있습니다</translation>
    </message>
    <message>
        <source>names must differ within the module around them</source>
        <translation>같은 모듈 안의 이름은 서로 달라야 합니다</translation>
    </message>
    <message>
        <source>the first module is no embedding</source>
        <translation>첫 모듈이 embedding이 아닙니다</translation>
    </message>
    <message>
        <source>the model is read as a stack: embedding, blocks, norm, linear</source>
        <translation>모델은 embedding, 블록, norm, linear의 차례로 읽습니다</translation>
    </message>
    <message>
        <source>the last module is no linear</source>
        <translation>마지막 모듈이 linear가 아닙니다</translation>
    </message>
    <message>
        <source>end the model with a linear to the classes of the loss</source>
        <translation>손실의 클래스로 가는 linear로 모델을 끝내세요</translation>
    </message>
    <message>
        <source>unknown %1 preset &quot;%2&quot;</source>
        <translation>모르는 %1 프리셋 &quot;%2&quot;</translation>
    </message>
    <message>
        <source>&quot;%1&quot; is none of: %2</source>
        <translation>&quot;%1&quot;은(는) 다음 중 어느 것도 아닙니다: %2</translation>
    </message>
    <message>
        <source>give it, or start from a preset with preset = &quot;%1&quot;</source>
        <translation>적거나 preset = &quot;%1&quot;처럼 프리셋에서 시작하세요</translation>
    </message>
    <message>
        <source>found %1, expected a number above zero</source>
        <translation>받은 값은 %1, 0보다 큰 수여야 합니다</translation>
    </message>
    <message>
        <source>found %1, expected the name of a GPU preset or a table</source>
        <translation>받은 값은 %1, GPU 프리셋 이름이나 표여야 합니다</translation>
    </message>
    <message>
        <source>found %1, expected the name of a node preset or a table</source>
        <translation>받은 값은 %1, 노드 프리셋 이름이나 표여야 합니다</translation>
    </message>
    <message>
        <source>found %1, expected a number or { value, source, confidence }</source>
        <translation>받은 값은 %1, 수이거나 { value, source, confidence } 꼴이어야 합니다</translation>
    </message>
    <message>
        <source>found %1, expected a multiple of the node&apos;s %2 GPUs</source>
        <translation>받은 값은 %1, 노드의 GPU %2개의 배수여야 합니다</translation>
    </message>
    <message>
        <source>found %1, but %2 has %3 GPUs</source>
        <translation>받은 값은 %1, 그러나 %2의 GPU는 %3개입니다</translation>
    </message>
    <message>
        <source>use more nodes, or describe a node of your own</source>
        <translation>노드를 더 쓰거나 노드를 직접 적으세요</translation>
    </message>
    <message>
        <source>given in %1</source>
        <translation>적힌 곳: %1</translation>
    </message>
    <message>
        <source>neither &quot;gpu&quot; nor &quot;node&quot; is given</source>
        <translation>&quot;gpu&quot;도 &quot;node&quot;도 없습니다</translation>
    </message>
    <message>
        <source>the node does not say which GPUs it holds</source>
        <translation>노드에 어떤 GPU가 있는지 적혀 있지 않습니다</translation>
    </message>
    <message>
        <source>give gpu as well</source>
        <translation>gpu도 적으세요</translation>
    </message>
    <message>
        <source>the GPU does not say in which node it usually sits</source>
        <translation>GPU가 보통 어느 노드에 있는지 적혀 있지 않습니다</translation>
    </message>
    <message>
        <source>give node as well</source>
        <translation>node도 적으세요</translation>
    </message>
    <message>
        <source>found %1 GiB, which is more than the memory of %2 GiB</source>
        <translation>받은 값은 %1 GiB, 메모리 %2 GiB보다 많습니다</translation>
    </message>
    <message>
        <source>found %1; only 1 is simulated so far</source>
        <translation>받은 값은 %1. 아직은 1만 시뮬레이션합니다</translation>
    </message>
    <message>
        <source>set it to 1, or leave it out</source>
        <translation>1로 하거나 빼세요</translation>
    </message>
    <message>
        <source>%1 ranks do not spread evenly over %2 nodes</source>
        <translation>랭크 %1개가 노드 %2개에 고르게 나누어지지 않습니다</translation>
    </message>
    <message>
        <source>give another cluster.nodes, or another degree</source>
        <translation>cluster.nodes나 병렬도를 바꾸세요</translation>
    </message>
    <message>
        <source>%1 ranks do not fill whole nodes of %2 GPUs</source>
        <translation>랭크 %1개가 GPU %2개짜리 노드를 다 채우지 못합니다</translation>
    </message>
    <message>
        <source>give cluster.nodes and cluster.gpus_per_node, or another degree</source>
        <translation>cluster.nodes와 cluster.gpus_per_node를 적거나 병렬도를 바꾸세요</translation>
    </message>
    <message>
        <source>%1 stages do not share %2 GPUs evenly</source>
        <translation>스테이지 %1개가 GPU %2개를 고르게 나누지 못합니다</translation>
    </message>
    <message>
        <source>choose a divisor, or change cluster.nodes and cluster.gpus_per_node</source>
        <translation>약수를 고르거나 cluster.nodes와 cluster.gpus_per_node를 바꾸세요</translation>
    </message>
    <message>
        <source>%1 stages of %2 ranks make %3, but the cluster has %4 (%5 nodes x %6 GPUs)</source>
        <translation>스테이지 %1개 x 랭크 %2개는 %3개인데, 클러스터에는 %4개입니다 (노드 %5개 x GPU %6개)</translation>
    </message>
    <message>
        <source>set data_parallel_shard_degree = %1 or -1, or change cluster.nodes and cluster.gpus_per_node</source>
        <translation>data_parallel_shard_degree를 %1이나 -1로 하거나 cluster.nodes와 cluster.gpus_per_node를 바꾸세요</translation>
    </message>
    <message>
        <source>degrees %1 (shard) x %2 (replicate) make %3 ranks, but the cluster has %4 (%5 nodes x %6 GPUs)</source>
        <translation>병렬도 %1 (shard) x %2 (replicate)는 랭크 %3개인데, 클러스터에는 %4개입니다 (노드 %5개 x GPU %6개)</translation>
    </message>
    <message>
        <source>a vision transformer&apos;s sequence follows from its image</source>
        <translation>비전 트랜스포머의 시퀀스는 이미지에서 정해집니다</translation>
    </message>
    <message>
        <source>leave seq_len out, or change model.image_size and model.patch_size</source>
        <translation>seq_len을 빼거나 model.image_size와 model.patch_size를 바꾸세요</translation>
    </message>
    <message>
        <source>found %1, but this model has %2 learned positions</source>
        <translation>받은 값은 %1, 그러나 이 모델이 배운 위치는 %2개입니다</translation>
    </message>
    <message>
        <source>use at most %1</source>
        <translation>%1 이하로 하세요</translation>
    </message>
    <message>
        <source>a global batch of %1 is no multiple of the %2 samples that %3 runs at a time</source>
        <translation>전체 배치 %1이(가) %3이(가) 한 번에 처리하는 샘플 %2개의 배수가 아닙니다</translation>
    </message>
    <message>
        <source>set training.global_batch_size to a multiple of %1, or change %2</source>
        <translation>training.global_batch_size를 %1의 배수로 하거나 %2을(를) 바꾸세요</translation>
    </message>
    <message>
        <source>%1 would run %2 micro-batches one after another; at most %3 are simulated</source>
        <translation>%1에서는 마이크로배치 %2개를 하나씩 처리하게 됩니다. %3개까지 시뮬레이션합니다</translation>
    </message>
    <message>
        <source>use larger micro-batches or a smaller global batch</source>
        <translation>마이크로배치를 키우거나 전체 배치를 줄이세요</translation>
    </message>
    <message>
        <source>no strategy &quot;%1&quot;</source>
        <translation>전략 &quot;%1&quot;이(가) 없습니다</translation>
    </message>
    <message>
        <source>known are: single, naive, fsdp</source>
        <translation>아는 전략: single, naive, fsdp</translation>
    </message>
    <message>
        <source>found %1, but the strategy &quot;single&quot; has one stage</source>
        <translation>받은 값은 %1, 그러나 전략 &quot;single&quot;의 스테이지는 하나입니다</translation>
    </message>
    <message>
        <source>choose the strategy naive or fsdp, or leave it out</source>
        <translation>전략 naive나 fsdp를 고르거나 빼세요</translation>
    </message>
    <message>
        <source>%1 stages on %2 GPUs; naive placement has one stage on each</source>
        <translation>GPU %2개에 스테이지 %1개. 나이브 배치는 GPU마다 스테이지가 하나입니다</translation>
    </message>
    <message>
        <source>leave it out, or set it to %1</source>
        <translation>빼거나 %1(으)로 하세요</translation>
    </message>
    <message>
        <source>leave it out, or set it to %1, or change cluster.nodes and cluster.gpus_per_node</source>
        <translation>빼거나 %1(으)로 하거나 cluster.nodes와 cluster.gpus_per_node를 바꾸세요</translation>
    </message>
    <message>
        <source>strategy %1</source>
        <translation>전략 %1</translation>
    </message>
    <message>
        <source>step graph</source>
        <translation>스텝 그래프</translation>
    </message>
    <message>
        <source>%1 ranks, expected 1 to 2^20</source>
        <translation>랭크 %1개, 1~2^20개여야 합니다</translation>
    </message>
    <message>
        <source>choose a degree in this range</source>
        <translation>이 범위의 병렬도를 고르세요</translation>
    </message>
    <message>
        <source>%1 micro-batches, expected 1 to 65535</source>
        <translation>마이크로배치 %1개, 1~65535개여야 합니다</translation>
    </message>
    <message>
        <source>choose larger local batches or a smaller global one</source>
        <translation>로컬 배치를 키우거나 전체 배치를 줄이세요</translation>
    </message>
    <message>
        <source>found false with pipeline_parallel_degree = %1, expected true with more than one stage</source>
        <translation>pipeline_parallel_degree = %1에서 받은 값은 false, 스테이지가 둘 이상이면 true여야 합니다</translation>
    </message>
    <message>
        <source>wrap the root too: fsdp_wrap_root = true</source>
        <translation>루트도 감싸세요: fsdp_wrap_root = true</translation>
    </message>
    <message>
        <source>%1 replicas of the shard group, expected 1</source>
        <translation>샤드 그룹의 복제본 %1개, 1개여야 합니다</translation>
    </message>
    <message>
        <source>replicated sharding is not modelled yet</source>
        <translation>복제된 샤딩은 아직 모델링되어 있지 않습니다</translation>
    </message>
    <message>
        <source>%1 layers with %2 modules on %3 stages, expected at most %4 modules x stages</source>
        <translation>레이어 %1개, 모듈 %2개, 스테이지 %3개. 모듈 x 스테이지는 %4 이하여야 합니다</translation>
    </message>
    <message>
        <source>use fewer stages or fewer layers</source>
        <translation>스테이지나 레이어를 줄이세요</translation>
    </message>
    <message>
        <source>lower training.global_batch_size, or raise training.local_batch_size</source>
        <translation>training.global_batch_size를 줄이거나 training.local_batch_size를 키우세요</translation>
    </message>
    <message>
        <source>lower training.global_batch_size, use fewer GPUs (cluster.nodes, cluster.gpus_per_node), or raise training.naive_micro_batch</source>
        <translation>training.global_batch_size를 줄이거나, GPU를 덜 쓰거나(cluster.nodes, cluster.gpus_per_node), training.naive_micro_batch를 키우세요</translation>
    </message>
    <message>
        <source>lower training.global_batch_size or parallelism.pipeline_parallel_degree, or raise training.local_batch_size</source>
        <translation>training.global_batch_size나 parallelism.pipeline_parallel_degree를 줄이거나 training.local_batch_size를 키우세요</translation>
    </message>
    <message>
        <source>the graph of %1 layers on %2 stage with %3 micro-batch has about %4 ops, expected at most %5</source>
        <translation>레이어 %1개, 스테이지 %2개, 마이크로배치 %3개의 그래프는 op가 약 %4개입니다. %5개 이하여야 합니다</translation>
    </message>
    <message>
        <source>the graph of %1 layers on %2 stage with %3 micro-batches has about %4 ops, expected at most %5</source>
        <translation>레이어 %1개, 스테이지 %2개, 마이크로배치 %3개의 그래프는 op가 약 %4개입니다. %5개 이하여야 합니다</translation>
    </message>
    <message>
        <source>the graph of %1 layers on %2 stages with %3 micro-batch has about %4 ops, expected at most %5</source>
        <translation>레이어 %1개, 스테이지 %2개, 마이크로배치 %3개의 그래프는 op가 약 %4개입니다. %5개 이하여야 합니다</translation>
    </message>
    <message>
        <source>the graph of %1 layers on %2 stages with %3 micro-batches has about %4 ops, expected at most %5</source>
        <translation>레이어 %1개, 스테이지 %2개, 마이크로배치 %3개의 그래프는 op가 약 %4개입니다. %5개 이하여야 합니다</translation>
    </message>
    <message>
        <source>found false with %1 units, expected true with more than 80</source>
        <translation>유닛 %1개에서 받은 값은 false, 80개를 넘으면 true여야 합니다</translation>
    </message>
    <message>
        <source>wrap the root too (fsdp_wrap_root = true), or put more blocks into a unit (fsdp_blocks_per_unit)</source>
        <translation>루트도 감싸거나(fsdp_wrap_root = true) 유닛에 블록을 더 넣으세요(fsdp_blocks_per_unit)</translation>
    </message>
    <message>
        <source>no module &apos;%1&apos; in %2</source>
        <translation>%2에 모듈 &apos;%1&apos;이(가) 없습니다</translation>
    </message>
    <message>
        <source>full module names are expected; fsdp_wrap_root wraps the root</source>
        <translation>모듈의 전체 이름이 필요합니다. 루트는 fsdp_wrap_root로 감쌉니다</translation>
    </message>
    <message>
        <source>the nearest name is &apos;%1&apos;</source>
        <translation>가장 가까운 이름은 &apos;%1&apos;</translation>
    </message>
    <message>
        <source>&apos;%1&apos; is a ModuleList, which has no forward to wrap</source>
        <translation>&apos;%1&apos;은(는) ModuleList라서 감쌀 forward가 없습니다</translation>
    </message>
    <message>
        <source>name its children</source>
        <translation>그 안의 모듈을 적으세요</translation>
    </message>
    <message>
        <source>unit &apos;%1&apos; reshards to groups of %2, which does not divide the %3 shard ranks</source>
        <translation>유닛 &apos;%1&apos;은(는) %2개씩 다시 나누는데, 샤드 랭크 %3개를 나누지 못합니다</translation>
    </message>
    <message>
        <source>use a divisor of data_parallel_shard_degree</source>
        <translation>data_parallel_shard_degree의 약수를 쓰세요</translation>
    </message>
    <message>
        <source>parameter &apos;%1&apos; is shared between the units &apos;%2&apos; and &apos;%3&apos;</source>
        <translation>파라미터 &apos;%1&apos;을(를) 유닛 &apos;%2&apos;과(와) &apos;%3&apos;이(가) 함께 씁니다</translation>
    </message>
    <message>
        <source>put both of its modules into one unit, or leave both to the root</source>
        <translation>두 모듈을 한 유닛에 넣거나 둘 다 루트에 맡기세요</translation>
    </message>
    <message>
        <source>&apos;%1&apos; lies inside &apos;%2&apos; of the same unit</source>
        <translation>&apos;%1&apos;은(는) 같은 유닛의 &apos;%2&apos; 안에 있습니다</translation>
    </message>
    <message>
        <source>&apos;%1&apos; is wrapped twice</source>
        <translation>&apos;%1&apos;을(를) 두 번 감쌌습니다</translation>
    </message>
    <message>
        <source>&apos;%1&apos; is wrapped after &apos;%2&apos;, which contains it</source>
        <translation>&apos;%1&apos;을(를) 그것을 담은 &apos;%2&apos; 다음에 감쌌습니다</translation>
    </message>
    <message>
        <source>name inner modules before outer ones</source>
        <translation>안쪽 모듈을 먼저 적으세요</translation>
    </message>
    <message>
        <source>module &apos;%1&apos; of unit &apos;%2&apos; runs no kernel in %3</source>
        <translation>유닛 &apos;%2&apos;의 모듈 &apos;%1&apos;은(는) %3에서 커널을 실행하지 않습니다</translation>
    </message>
    <message>
        <source>wrap the module that contains it</source>
        <translation>그것을 담은 모듈을 감싸세요</translation>
    </message>
    <message>
        <source>unit &apos;%1&apos; lies in more than one stage</source>
        <translation>유닛 &apos;%1&apos;이(가) 여러 스테이지에 걸쳐 있습니다</translation>
    </message>
    <message>
        <source>no unit &apos;%1&apos;</source>
        <translation>유닛 &apos;%1&apos;이(가) 없습니다</translation>
    </message>
    <message>
        <source>%1 stages; %2 has %3 blocks, %4 parts with what stands before and after them</source>
        <translation>스테이지 %1개. %2의 블록은 %3개이고, 앞뒤에 있는 것까지 %4개 부분입니다</translation>
    </message>
    <message>
        <source>use at most %1 stages: --set parallelism.pipeline_parallel_degree=%2</source>
        <translation>스테이지를 %1개 이하로 하세요: parallelism.pipeline_parallel_degree=%2</translation>
    </message>
    <message>
        <source>naive placement on %1 ranks makes %2 stages; %3 has %4 blocks, %5 parts with what stands before and after them</source>
        <translation>랭크 %1개의 나이브 배치는 스테이지가 %2개인데, %3의 블록은 %4개이고 앞뒤에 있는 것까지 %5개 부분입니다</translation>
    </message>
    <message>
        <source>use at most %1 GPUs, for example --set cluster.nodes=1 --set cluster.gpus_per_node=%2 --set parallelism.data_parallel_shard_degree=-1, or a deeper model</source>
        <translation>GPU를 %1개 이하로 쓰거나(예: cluster.nodes=1, cluster.gpus_per_node=%2, parallelism.data_parallel_shard_degree=-1) 더 깊은 모델을 쓰세요</translation>
    </message>
    <message>
        <source>%1 layers to balance over %2 stages</source>
        <translation>레이어 %1개를 스테이지 %2개에 고르게 나누기</translation>
    </message>
    <message>
        <source>use &quot;layers&quot;, or fewer stages</source>
        <translation>&quot;layers&quot;를 쓰거나 스테이지를 줄이세요</translation>
    </message>
    <message>
        <source>%1 blocks a unit, expected at least 1</source>
        <translation>유닛당 블록 %1개, 1개 이상이어야 합니다</translation>
    </message>
    <message>
        <source>an op of more than an hour is a mistake in the sizes or in the hardware&apos;s rates</source>
        <translation>한 시간이 넘는 op는 크기나 하드웨어 속도를 잘못 적은 것입니다</translation>
    </message>
    <message>
        <source>a negative duration or release time</source>
        <translation>음수인 소요 시간이나 시작 시각</translation>
    </message>
    <message>
        <source>price table</source>
        <translation>값의 표</translation>
    </message>
    <message>
        <source>compute</source>
        <translation>연산</translation>
    </message>
    <message>
        <source>all-gather copy-in</source>
        <translation>all-gather 복사(넣기)</translation>
    </message>
    <message>
        <source>all-gather copy-out</source>
        <translation>all-gather 복사(꺼내기)</translation>
    </message>
    <message>
        <source>reduce-scatter copy-in</source>
        <translation>reduce-scatter 복사(넣기)</translation>
    </message>
    <message>
        <source>reduce-scatter copy-out</source>
        <translation>reduce-scatter 복사(꺼내기)</translation>
    </message>
    <message>
        <source>keep slice</source>
        <translation>조각 남기기</translation>
    </message>
    <message>
        <source>add gradient</source>
        <translation>그래디언트 더하기</translation>
    </message>
    <message>
        <source>cast parameters</source>
        <translation>파라미터 형 변환</translation>
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
        <source>forward %1</source>
        <translation>%1 순전파</translation>
    </message>
    <message>
        <source>backward %1</source>
        <translation>%1 역전파</translation>
    </message>
    <message>
        <source>send output of %1</source>
        <translation>%1의 출력 보내기</translation>
    </message>
    <message>
        <source>send gradient of %1</source>
        <translation>%1의 그래디언트 보내기</translation>
    </message>
    <message>
        <source>receive output of %1</source>
        <translation>%1의 출력 받기</translation>
    </message>
    <message>
        <source>receive gradient of %1</source>
        <translation>%1의 그래디언트 받기</translation>
    </message>
    <message>
        <source>send %1</source>
        <translation>%1 보내기</translation>
    </message>
    <message>
        <source>receive %1</source>
        <translation>%1 받기</translation>
    </message>
    <message>
        <source>all-gather %1</source>
        <translation>%1의 all-gather</translation>
    </message>
    <message>
        <source>reduce-scatter %1</source>
        <translation>%1의 reduce-scatter</translation>
    </message>
    <message>
        <source>all-reduce %1</source>
        <translation>%1의 all-reduce</translation>
    </message>
    <message>
        <source>all-gather copy-in %1</source>
        <translation>%1의 all-gather 복사(넣기)</translation>
    </message>
    <message>
        <source>all-gather copy-out %1</source>
        <translation>%1의 all-gather 복사(꺼내기)</translation>
    </message>
    <message>
        <source>reduce-scatter copy-in %1</source>
        <translation>%1의 reduce-scatter 복사(넣기)</translation>
    </message>
    <message>
        <source>reduce-scatter copy-out %1</source>
        <translation>%1의 reduce-scatter 복사(꺼내기)</translation>
    </message>
    <message>
        <source>keep slice %1</source>
        <translation>%1의 조각 남기기</translation>
    </message>
    <message>
        <source>add gradient %1</source>
        <translation>%1의 그래디언트 더하기</translation>
    </message>
    <message>
        <source>cast parameters %1</source>
        <translation>%1의 파라미터 형 변환</translation>
    </message>
    <message>
        <source>optimizer step %1</source>
        <translation>%1의 옵티마이저 스텝</translation>
    </message>
    <message>
        <source>optimizer %1</source>
        <translation>%1의 옵티마이저</translation>
    </message>
    <message>
        <source>%1: %2, issued by the host at %3</source>
        <translation>%1: %2, 호스트가 %3에 내보냄</translation>
    </message>
    <message>
        <source>%1, tiles %2 x %3, k in %4, %5 waves over %6 SMs: %7</source>
        <translation>%1, 타일 %2 x %3, k를 %4등분, SM %6개에서 %5번: %7</translation>
    </message>
    <message>
        <source>attention %1 x %2 heads, %3: %4</source>
        <translation>어텐션 %1 x 헤드 %2개, %3: %4</translation>
    </message>
    <message>
        <source>%1 causal %2</source>
        <translation>%1 causal(앞쪽만) %2</translation>
    </message>
    <message>
        <source>memory-bound: %1</source>
        <translation>메모리가 한계: %1</translation>
    </message>
    <message>
        <source>%1: memory-bound: %2 + %3 for %4 at %5 % of %6 GB/s = %7</source>
        <translation>%1: 메모리가 한계: %2 + %3 (%4, %6 GB/s의 %5 %로) = %7</translation>
    </message>
    <message>
        <source>%1: %2 + %3 for %4 at %5 % of %6 GB/s = %7</source>
        <translation>%1: %2 + %3 (%4, %6 GB/s의 %5 %로) = %7</translation>
    </message>
    <message>
        <source>%1 + max(%2 for %3 GFLOP at %4 % of %5 TFLOPS, %6 for %7) = %8</source>
        <translation>%1 + max(%3 GFLOP을 %5 TFLOPS의 %4 %로 %2, %7에 %6) = %8</translation>
    </message>
    <message>
        <source>%1: %2 (%3 confidence)</source>
        <translation>%1: %2 (신뢰도 %3)</translation>
    </message>
    <message>
        <source>low</source>
        <translation>낮음</translation>
    </message>
    <message>
        <source>medium</source>
        <translation>중간</translation>
    </message>
    <message>
        <source>high</source>
        <translation>높음</translation>
    </message>
    <message>
        <source>peak: %1 (%2 confidence)</source>
        <translation>최대 성능: %1 (신뢰도 %2)</translation>
    </message>
    <message>
        <source>share of the peak: %1 (%2 confidence)</source>
        <translation>최대 성능의 몫: %1 (신뢰도 %2)</translation>
    </message>
    <message>
        <source>sustained share: %1 (%2 confidence)</source>
        <translation>지속 성능의 몫: %1 (신뢰도 %2)</translation>
    </message>
    <message>
        <source>memory bandwidth: %1 (%2 confidence)</source>
        <translation>메모리 대역폭: %1 (신뢰도 %2)</translation>
    </message>
    <message>
        <source>link bandwidth: %1 (%2 confidence)</source>
        <translation>링크 대역폭: %1 (신뢰도 %2)</translation>
    </message>
    <message>
        <source>network bandwidth: %1 (%2 confidence)</source>
        <translation>네트워크 대역폭: %1 (신뢰도 %2)</translation>
    </message>
    <message>
        <source>link constants: %1 (%2 confidence)</source>
        <translation>링크 상수: %1 (신뢰도 %2)</translation>
    </message>
    <message>
        <source>network constants: %1 (%2 confidence)</source>
        <translation>네트워크 상수: %1 (신뢰도 %2)</translation>
    </message>
    <message>
        <source>formulas: cost model facts %1</source>
        <translation>식: cost model facts %1</translation>
    </message>
    <message>
        <source>formula: cost model facts %1</source>
        <translation>식: cost model facts %1</translation>
    </message>
    <message>
        <source>%1 to %2 and %3</source>
        <translation>%1~%2, %3</translation>
    </message>
    <message>
        <source>one rank: nothing to send</source>
        <translation>랭크 하나: 보낼 것이 없음</translation>
    </message>
    <message>
        <source>%1 over %2 ranks in %3 link domain(s), ring, %4: %5 latency + %6 sent by every rank / %7 GB/s = %8</source>
        <translation>랭크 %2개(링크 영역 %3개)에서 %1, ring, %4: 지연 %5 + 랭크마다 보내는 %6 / %7 GB/s = %8</translation>
    </message>
    <message>
        <source>bus bandwidth %1 GB/s (link %2), reached by half at %3</source>
        <translation>버스 대역폭 %1 GB/s (링크 %2), %3에서 절반에 이름</translation>
    </message>
    <message>
        <source>bus bandwidth %1 GB/s (link %2, network %3), reached by half at %4</source>
        <translation>버스 대역폭 %1 GB/s (링크 %2, 네트워크 %3), %4에서 절반에 이름</translation>
    </message>
    <message>
        <source>no device time</source>
        <translation>GPU 시간 없음</translation>
    </message>
    <message>
        <source>no kernels</source>
        <translation>커널 없음</translation>
    </message>
    <message>
        <source>the loss is free by a knob</source>
        <translation>손실 계산은 설정에 따라 시간이 들지 않음</translation>
    </message>
    <message>
        <source>communication is free by a knob</source>
        <translation>통신은 설정에 따라 시간이 들지 않음</translation>
    </message>
    <message>
        <source>free by a knob</source>
        <translation>설정에 따라 시간이 들지 않음</translation>
    </message>
    <message>
        <source>%1 over the network: %2 latency + %3 GB/s = %4</source>
        <translation>네트워크로 %1: 지연 %2 + %3 GB/s = %4</translation>
    </message>
    <message>
        <source>%1 inside a link domain: %2 latency + %3 GB/s = %4</source>
        <translation>링크 영역 안에서 %1: 지연 %2 + %3 GB/s = %4</translation>
    </message>
    <message>
        <source>%1 + %2 read and written at %3 % of %4 GB/s = %5</source>
        <translation>%1 + 읽고 쓰는 %2, %4 GB/s의 %3 %로 = %5</translation>
    </message>
    <message>
        <source>%1 and %2 more</source>
        <translation>%1 외 %2개</translation>
    </message>
    <message>
        <source>gradient of the input</source>
        <translation>입력의 그래디언트</translation>
    </message>
    <message>
        <source>gradient of the output</source>
        <translation>출력의 그래디언트</translation>
    </message>
    <message>
        <source>output</source>
        <translation>출력</translation>
    </message>
    <message>
        <source>input</source>
        <translation>입력</translation>
    </message>
    <message>
        <source>all units</source>
        <translation>모든 유닛</translation>
    </message>
    <message>
        <source>parameters</source>
        <translation>파라미터</translation>
    </message>
    <message>
        <source>1 parameter</source>
        <translation>파라미터 1개</translation>
    </message>
    <message>
        <source>%1 parameters</source>
        <translation>파라미터 %1개</translation>
    </message>
    <message>
        <source>%1, the own shard</source>
        <translation>%1, 자기 몫</translation>
    </message>
    <message>
        <source>%1 parameters, the own shard</source>
        <translation>파라미터 %1개, 자기 몫</translation>
    </message>
    <message>
        <source>parameters of no unit</source>
        <translation>어느 유닛에도 속하지 않는 파라미터</translation>
    </message>
    <message>
        <source>%1 parameters in %2</source>
        <translation>파라미터 %1개 (%2)</translation>
    </message>
    <message>
        <source>%1 parameters, the slice kept after forward</source>
        <translation>파라미터 %1개, 순전파 뒤에 남긴 조각</translation>
    </message>
    <message>
        <source>%1 parameters, gathered</source>
        <translation>파라미터 %1개, 모은 것</translation>
    </message>
    <message>
        <source>1 parameter, the own shard</source>
        <translation>파라미터 1개, 자기 몫</translation>
    </message>
    <message>
        <source>1 parameter in %1</source>
        <translation>파라미터 1개 (%1)</translation>
    </message>
    <message>
        <source>1 parameter, the slice kept after forward</source>
        <translation>파라미터 1개, 순전파 뒤에 남긴 조각</translation>
    </message>
    <message>
        <source>1 parameter, gathered</source>
        <translation>파라미터 1개, 모은 것</translation>
    </message>
    <message>
        <source>reduced gradients, the own shard</source>
        <translation>합친 그래디언트, 자기 몫</translation>
    </message>
    <message>
        <source>gradients</source>
        <translation>그래디언트</translation>
    </message>
    <message>
        <source>all-gather output</source>
        <translation>all-gather 출력</translation>
    </message>
    <message>
        <source>reduce-scatter input</source>
        <translation>reduce-scatter 입력</translation>
    </message>
    <message>
        <source>reduce-scatter output</source>
        <translation>reduce-scatter 출력</translation>
    </message>
    <message>
        <source>activations</source>
        <translation>액티베이션</translation>
    </message>
    <message>
        <source>workspace</source>
        <translation>작업 공간</translation>
    </message>
    <message>
        <source>gradients to be added</source>
        <translation>더할 그래디언트</translation>
    </message>
    <message>
        <source>temporaries of its backward</source>
        <translation>역전파의 임시 텐서</translation>
    </message>
    <message>
        <source>temporaries of its forward</source>
        <translation>순전파의 임시 텐서</translation>
    </message>
    <message>
        <source>for %1</source>
        <translation>용도: %1</translation>
    </message>
    <message>
        <source>all ranks</source>
        <translation>모든 랭크</translation>
    </message>
    <message>
        <source>all ranks x %1</source>
        <translation>모든 랭크 x %1</translation>
    </message>
    <message>
        <source>stage %1</source>
        <translation>스테이지 %1</translation>
    </message>
    <message>
        <source>rank %1</source>
        <translation>랭크 %1</translation>
    </message>
    <message>
        <source>choose a place that you may write to</source>
        <translation>쓸 권한이 있는 곳을 고르세요</translation>
    </message>
    <message>
        <source>%1 to %2</source>
        <translation>%1~%2</translation>
    </message>
    <message>
        <source>no valid JSON: %1</source>
        <translation>올바른 JSON이 아닙니다 (해석기의 말: %1)</translation>
    </message>
    <message>
        <source>not valid TOML: %1</source>
        <translation>올바른 TOML이 아닙니다 (해석기의 말: %1)</translation>
    </message>
    <message>
        <source>cannot read this TOML: %1</source>
        <translation>이 TOML을 읽을 수 없습니다 (해석기의 말: %1)</translation>
    </message>
    <message>
        <source>correct it there, or see that the file was written or downloaded whole</source>
        <translation>그 자리를 고치거나, 파일이 끝까지 쓰였거나 내려받아졌는지 확인하세요</translation>
    </message>
    <message>
        <source>known: %1</source>
        <translation>아는 것: %1</translation>
    </message>
    <message>
        <source>DDP on %1 stages of %2 shards, expected replicas alone</source>
        <translation>스테이지 %1개, 샤드 %2개의 DDP. 복제본만 있어야 합니다</translation>
    </message>
    <message>
        <source>give the ranks as data_parallel_replicate_degree</source>
        <translation>랭크 수를 data_parallel_replicate_degree로 적으세요</translation>
    </message>
    <message>
        <source>a bucket of %1 MiB, expected more than 0 and at most 2^20</source>
        <translation>%1 MiB짜리 버킷. 0보다 크고 2^20 이하여야 합니다</translation>
    </message>
    <message>
        <source>PyTorch&apos;s default is 25</source>
        <translation>PyTorch의 기본값은 25입니다</translation>
    </message>
    <message>
        <source>static_graph with the first iteration under no_sync, which DDP refuses</source>
        <translation>첫 반복이 no_sync인 static_graph. DDP가 거부합니다</translation>
    </message>
    <message>
        <source>leave it out, or set training.gradient_sync = &quot;every&quot;</source>
        <translation>빼거나 training.gradient_sync = &quot;every&quot;로 하세요</translation>
    </message>
    <message>
        <source>bucket copy-in</source>
        <translation>버킷 복사(넣기)</translation>
    </message>
    <message>
        <source>bucket copy-out</source>
        <translation>버킷 복사(꺼내기)</translation>
    </message>
    <message>
        <source>bucket copy-in %1</source>
        <translation>%1 버킷 복사(넣기)</translation>
    </message>
    <message>
        <source>bucket copy-out %1</source>
        <translation>%1 버킷 복사(꺼내기)</translation>
    </message>
    <message>
        <source>bucket %1</source>
        <translation>버킷 %1</translation>
    </message>
    <message>
        <source>bucket of gradients</source>
        <translation>그래디언트의 버킷</translation>
    </message>
    <message>
        <source>gradients, in the bucket</source>
        <translation>버킷 안의 그래디언트</translation>
    </message>
    <message>
        <source>known are: single, naive, ddp, fsdp</source>
        <translation>아는 전략: single, naive, ddp, fsdp</translation>
    </message>
    <message>
        <source>%1 x %2 x %3 ranks, expected at most 2^32 together</source>
        <translation>랭크 %1 x %2 x %3개, 모두 2^32개 이하여야 합니다</translation>
    </message>
    <message>
        <source>choose smaller degrees</source>
        <translation>병렬도를 줄이세요</translation>
    </message>
    <message>
        <source>a prefetch depth of %1, expected 0 or more</source>
        <translation>프리페치 깊이 %1, 0 이상이어야 합니다</translation>
    </message>
    <message>
        <source>0 is the implicit prefetch</source>
        <translation>0은 암묵적 프리페치입니다</translation>
    </message>
    <message>
        <source>unit policy &apos;%1&apos; on %2 data-parallel ranks: nothing would average their gradients</source>
        <translation>데이터 병렬 랭크 %2개의 유닛 정책 &apos;%1&apos;: 그래디언트를 평균할 것이 없습니다</translation>
    </message>
    <message>
        <source>use policy &apos;fsdp&apos;, or data-parallel degrees of 1</source>
        <translation>정책 &apos;fsdp&apos;를 쓰거나 데이터 병렬도를 1로 하세요</translation>
    </message>
    <message>
        <source>a unit without modules</source>
        <translation>모듈이 없는 유닛</translation>
    </message>
    <message>
        <source>parameter &apos;%1&apos; is a scalar, which cannot be sharded</source>
        <translation>파라미터 &apos;%1&apos;은(는) 스칼라라서 나눌 수 없습니다</translation>
    </message>
    <message>
        <source>the padded elements of &apos;%1&apos; are not divisible by %2</source>
        <translation>&apos;%1&apos;의 채운 원소 수가 %2(으)로 나누어지지 않습니다</translation>
    </message>
    <message>
        <source>%1 stages, expected at least 1</source>
        <translation>스테이지 %1개, 1개 이상이어야 합니다</translation>
    </message>
    <message>
        <source>the model has no layers</source>
        <translation>모델에 레이어가 없습니다</translation>
    </message>
    <message>
        <source>schedule &apos;%1&apos; has one stage, found %2</source>
        <translation>스케줄 &apos;%1&apos;의 스테이지는 하나인데 %2개입니다</translation>
    </message>
    <message>
        <source>use schedule &apos;naive&apos; for several stages</source>
        <translation>스테이지가 여럿이면 스케줄 &apos;naive&apos;를 쓰세요</translation>
    </message>
    <message>
        <source>&apos;%1&apos; is used by %2 stages, expected at most 2</source>
        <translation>&apos;%1&apos;을(를) 스테이지 %2개가 씁니다. 2개 이하여야 합니다</translation>
    </message>
    <message>
        <source>dtype: found %1, expected %2</source>
        <translation>dtype: 받은 값은 %1, 필요한 값은 %2</translation>
    </message>
    <message>
        <source>found no tensor %1</source>
        <translation>텐서 %1이(가) 없습니다</translation>
    </message>
    <message>
        <source>found no tensor %1 in %2</source>
        <translation>%2에 텐서 %1이(가) 없습니다</translation>
    </message>
    <message>
        <source>weight_map %1: expected the name of a file beside the index</source>
        <translation>weight_map %1: 색인 옆에 있는 파일의 이름이어야 합니다</translation>
    </message>
    <message>
        <source>layer &apos;%1&apos; has %2 modules, expected at most %3</source>
        <translation>레이어 &apos;%1&apos;의 모듈은 %2개, %3개 이하여야 합니다</translation>
    </message>
    <message>
        <source>the product of &apos;%1&apos; with %2 rows exceeds 2^62 bytes or FLOPs</source>
        <translation>&apos;%1&apos;과(와) %2행의 곱이 2^62바이트 또는 FLOP을 넘습니다</translation>
    </message>
    <message>
        <source>found no weights, only integer tensors and buffers</source>
        <translation>가중치가 없고 정수 텐서와 버퍼뿐입니다</translation>
    </message>
    <message>
        <source>%1, expected a whole number from 1 to 2^31</source>
        <translation>%1, 1~2^31의 정수여야 합니다</translation>
    </message>
    <message>
        <source>%1, expected at most %2</source>
        <translation>%1, %2 이하여야 합니다</translation>
    </message>
    <message>
        <source>a linear</source>
        <translation>linear</translation>
    </message>
    <message>
        <source>unknown kind `%1`</source>
        <translation>모르는 종류 `%1`</translation>
    </message>
    <message>
        <source>tied to `%1`, which is no earlier module with a weight</source>
        <translation>`%1`에 묶였는데, 앞에 가중치가 있는 그런 모듈이 없습니다</translation>
    </message>
    <message>
        <source>give the full name of a module that stands before this one</source>
        <translation>이 모듈보다 앞에 있는 모듈의 전체 이름을 적으세요</translation>
    </message>
    <message>
        <source>a list of modules has no name</source>
        <translation>모듈의 목록에 이름이 없습니다</translation>
    </message>
    <message>
        <source>a name must be a string</source>
        <translation>이름은 글이어야 합니다</translation>
    </message>
    <message>
        <source>the embedding stands in a list</source>
        <translation>embedding이 목록 안에 있습니다</translation>
    </message>
    <message>
        <source>an embedding must be the first module</source>
        <translation>embedding은 첫 모듈이어야 합니다</translation>
    </message>
    <message>
        <source>more than %1 modules in one layer</source>
        <translation>한 레이어에 모듈이 %1개를 넘습니다</translation>
    </message>
    <message>
        <source>put them into a list at the top level, where each is a layer</source>
        <translation>맨 위의 목록에 넣으세요. 거기서는 하나하나가 레이어입니다</translation>
    </message>
    <message>
        <source>no sequence length</source>
        <translation>시퀀스 길이가 없습니다</translation>
    </message>
    <message>
        <source>give `sequence` in the file or with the training</source>
        <translation>파일에 `sequence`를 적거나 학습 설정에 적으세요</translation>
    </message>
    <message>
        <source>several compute streams</source>
        <translation>여러 연산 스트림</translation>
    </message>
    <message>
        <source>the step cannot finish: %1</source>
        <translation>스텝이 끝날 수 없습니다: %1</translation>
    </message>
    <message>
        <source>durations that add up to more than 64-bit nanoseconds hold</source>
        <translation>합치면 64비트 나노초를 넘는 소요 시간</translation>
    </message>
    <message>
        <source>%1 reduce-scatter inputs in flight, expected 1 to 1000</source>
        <translation>동시에 떠 있는 리듀스-스캐터 입력 %1개. 1에서 1000까지여야 합니다</translation>
    </message>
    <message>
        <source>PyTorch&apos;s default is 1</source>
        <translation>PyTorch의 기본값은 1입니다</translation>
    </message>
    <message>
        <source>a gradient divide factor of %1, expected more than 0</source>
        <translation>그래디언트를 나누는 수 %1. 0보다 커야 합니다</translation>
    </message>
    <message>
        <source>leave it out to divide by the data-parallel ranks</source>
        <translation>빼면 데이터 병렬 랭크 수로 나눕니다</translation>
    </message>
    <message>
        <source>found true with a root above all units, expected units without a root</source>
        <translation>true인데 모든 유닛 위에 루트가 있습니다. 루트 없는 유닛이어야 합니다</translation>
    </message>
    <message>
        <source>leave it out, or set fsdp_wrap_root = false</source>
        <translation>빼거나 fsdp_wrap_root = false로 하세요</translation>
    </message>
    <message>
        <source>found &quot;all_reduce_last&quot; without replicas, expected an all-reduce to put off</source>
        <translation>&quot;all_reduce_last&quot;인데 복제본이 없습니다. 미룰 올리듀스가 있어야 합니다</translation>
    </message>
    <message>
        <source>use &quot;last&quot;, or a data_parallel_replicate_degree above 1</source>
        <translation>&quot;last&quot;를 쓰거나 data_parallel_replicate_degree를 1보다 크게 하세요</translation>
    </message>
    <message>
        <source>found &quot;all_reduce_last&quot; with one shard, expected 2 or more</source>
        <translation>&quot;all_reduce_last&quot;인데 샤드가 하나입니다. 2 이상이어야 합니다</translation>
    </message>
    <message>
        <source>use &quot;last&quot;, or a data_parallel_shard_degree above 1</source>
        <translation>&quot;last&quot;를 쓰거나 data_parallel_shard_degree를 1보다 크게 하세요</translation>
    </message>
    <message>
        <source>found true with all-reduces that are put off to the last micro-batch</source>
        <translation>true인데 올리듀스가 마지막 마이크로배치로 미뤄져 있습니다</translation>
    </message>
    <message>
        <source>leave it out, or use another training.gradient_sync</source>
        <translation>빼거나 다른 training.gradient_sync를 쓰세요</translation>
    </message>
    <message>
        <source>found &quot;all_reduce_last&quot; under &apos;%1&apos;, expected fsdp with replicas</source>
        <translation>&apos;%1&apos;에서 &quot;all_reduce_last&quot;. 복제본이 있는 fsdp여야 합니다</translation>
    </message>
    <message>
        <source>use &quot;every&quot; or &quot;last&quot;, or compare fsdp alone: --strategy fsdp</source>
        <translation>&quot;every&quot;나 &quot;last&quot;를 쓰거나 fsdp만 비교하세요: --strategy fsdp</translation>
    </message>
    <message>
        <source>backward reads the parameters of &apos;%1&apos;, which is resharded after forward</source>
        <translation>순전파 뒤 다시 샤딩되는 &apos;%1&apos;의 파라미터를 역전파가 읽습니다</translation>
    </message>
    <message>
        <source>name only units whose backward needs no parameters (an embedding), or do not reshard them</source>
        <translation>역전파에 파라미터가 필요 없는 유닛(임베딩)만 적거나 다시 샤딩하지 마세요</translation>
    </message>
    <message>
        <source>keep gradients</source>
        <translation>그래디언트 보관</translation>
    </message>
    <message>
        <source>keep gradients %1</source>
        <translation>%1 그래디언트 보관</translation>
    </message>
    <message>
        <source>add partial sum</source>
        <translation>부분합 더하기</translation>
    </message>
    <message>
        <source>add partial sum %1</source>
        <translation>%1 부분합 더하기</translation>
    </message>
    <message>
        <source>every %1th block is checkpointed, expected 1 or more</source>
        <translation>%1번째마다 블록을 체크포인트합니다. 1 이상이어야 합니다</translation>
    </message>
    <message>
        <source>2 is every second block</source>
        <translation>2는 두 블록마다 하나입니다</translation>
    </message>
    <message>
        <source>recompute %1</source>
        <translation>%1 다시 계산</translation>
    </message>
    <message>
        <source>recompute</source>
        <translation>다시 계산</translation>
    </message>
    <message>
        <source>no module or parameter &apos;%1&apos;</source>
        <translation>모듈도 파라미터도 아닌 이름 &apos;%1&apos;</translation>
    </message>
    <message>
        <source>every parameter is frozen, expected something to train</source>
        <translation>모든 파라미터가 고정되었습니다. 훈련할 것이 있어야 합니다</translation>
    </message>
    <message>
        <source>leave a module out</source>
        <translation>모듈 하나를 빼세요</translation>
    </message>
    <message>
        <source>frozen parameters under ddp, expected single, naive or fsdp</source>
        <translation>ddp에서 고정된 파라미터. single, naive, fsdp여야 합니다</translation>
    </message>
    <message>
        <source>choose another strategy, or leave nothing frozen</source>
        <translation>다른 전략을 고르거나 아무것도 고정하지 마세요</translation>
    </message>
    <message>
        <source>all parameters before &apos;%1&apos; are frozen: under &apos;%2&apos; no gradient reaches stage %3</source>
        <translation>&apos;%1&apos; 앞의 모든 파라미터가 고정되어 &apos;%2&apos;에서 단계 %3에 그래디언트가 가지 않습니다</translation>
    </message>
    <message>
        <source>use fewer stages, train a parameter of the first one, or choose --strategy fsdp</source>
        <translation>단계를 줄이거나 첫 단계의 파라미터 하나를 훈련하거나 --strategy fsdp를 고르세요</translation>
    </message>
    <message>
        <source>backward does not reach &apos;%1&apos;, whose parameters are frozen: without a root it would stay gathered from one step to the next</source>
        <translation>파라미터가 고정된 &apos;%1&apos;에는 역전파가 닿지 않아, 루트가 없으면 다음 스텝까지 모인 채로 남습니다</translation>
    </message>
    <message>
        <source>backward does not reach &apos;%1&apos;: the slice that it keeps after forward would stay from one step to the next</source>
        <translation>&apos;%1&apos;에는 역전파가 닿지 않아, 순전파 뒤에 남긴 조각이 다음 스텝까지 남습니다</translation>
    </message>
    <message>
        <source>free it after forward: fsdp_unit_reshard_after_forward = { &quot;%1&quot; = true }</source>
        <translation>순전파 뒤에 비우세요: fsdp_unit_reshard_after_forward = { &quot;%1&quot; = true }</translation>
    </message>
    <message>
        <source>8-bit AdamW is simulated, not run</source>
        <translation>8비트 AdamW는 모의로만 하고 실행하지 않습니다</translation>
    </message>
    <message>
        <source>choose adamw</source>
        <translation>adamw를 고르세요</translation>
    </message>
    <message>
        <source>found true with parameters that no unit holds, expected a wrapped root</source>
        <translation>true인데 어느 유닛에도 없는 파라미터가 있습니다. 루트를 감싸야 합니다</translation>
    </message>
    <message>
        <source>set parallelism.fsdp_wrap_root = true</source>
        <translation>parallelism.fsdp_wrap_root = true로 하세요</translation>
    </message>
    <message>
        <source>found true with pipeline_parallel_degree = %1, expected one stage</source>
        <translation>true인데 pipeline_parallel_degree = %1. 스테이지가 하나여야 합니다</translation>
    </message>
    <message>
        <source>leave one of the two out</source>
        <translation>둘 중 하나를 빼세요</translation>
    </message>
    <message>
        <source>gradients clipped at %1, expected more than 0</source>
        <translation>그래디언트를 %1에서 자릅니다. 0보다 커야 합니다</translation>
    </message>
    <message>
        <source>0 clips nothing</source>
        <translation>0은 자르지 않습니다</translation>
    </message>
    <message>
        <source>dim 1 of &apos;%1&apos; %2 does not divide evenly by %3 shards</source>
        <translation>&apos;%1&apos; %2의 1번 차원은 샤드 %3개로 나누어떨어지지 않습니다</translation>
    </message>
    <message>
        <source>leave it on dim 0, which is padded where it does not divide</source>
        <translation>나누어떨어지지 않으면 채워 넣는 0번 차원에 두세요</translation>
    </message>
    <message>
        <source>no parameter of two dimensions is &apos;%1&apos; or lies in it</source>
        <translation>&apos;%1&apos;이거나 그 안에 있는 2차원 파라미터가 없습니다</translation>
    </message>
    <message>
        <source>&apos;%1&apos; is cut along dim 1, and its unit keeps 1/%2 after forward</source>
        <translation>&apos;%1&apos;은 1번 차원으로 잘리는데, 그 유닛은 순전파 뒤 1/%2을 남깁니다</translation>
    </message>
    <message>
        <source>reshard this unit wholly or not at all</source>
        <translation>이 유닛은 모두 다시 샤딩하거나 하지 마세요</translation>
    </message>
    <message>
        <source>copy to device</source>
        <translation>GPU로 복사</translation>
    </message>
    <message>
        <source>copy to device %1</source>
        <translation>%1 GPU로 복사</translation>
    </message>
    <message>
        <source>copy to host</source>
        <translation>호스트로 복사</translation>
    </message>
    <message>
        <source>copy to host %1</source>
        <translation>%1 호스트로 복사</translation>
    </message>
    <message>
        <source>gradient norm</source>
        <translation>그래디언트 노름</translation>
    </message>
    <message>
        <source>gradient norm %1</source>
        <translation>%1 그래디언트 노름</translation>
    </message>
    <message>
        <source>scale gradients</source>
        <translation>그래디언트 배율 조정</translation>
    </message>
    <message>
        <source>scale gradients %1</source>
        <translation>%1 그래디언트 배율 조정</translation>
    </message>
    <message>
        <source>all-reduce gradient norm</source>
        <translation>그래디언트 노름 all-reduce</translation>
    </message>
    <message>
        <source>send gradient norm</source>
        <translation>그래디언트 노름 보내기</translation>
    </message>
    <message>
        <source>receive gradient norm</source>
        <translation>그래디언트 노름 받기</translation>
    </message>
    <message>
        <source>%1 in %2 copies over PCIe, page-locked memory at %3 GB/s = %4</source>
        <translation>PCIe로 %1을 복사 %2번에, 페이지 고정 메모리 %3 GB/s = %4</translation>
    </message>
    <message>
        <source>%1 in %2 copies over PCIe, pageable memory at %3 GB/s = %4</source>
        <translation>PCIe로 %1을 복사 %2번에, 페이지 고정하지 않은 메모리 %3 GB/s = %4</translation>
    </message>
    <message>
        <source>%1 read and written in host memory at %2 GB/s a rank = %3</source>
        <translation>호스트 메모리에서 읽고 쓰는 %1, 랭크마다 %2 GB/s = %3</translation>
    </message>
    <message>
        <source>%1 read and written in host memory at %2 GB/s a rank, %3 ranks a node = %4</source>
        <translation>호스트 메모리에서 읽고 쓰는 %1, 노드당 랭크 %3개, 랭크마다 %2 GB/s = %4</translation>
    </message>
    <message>
        <source>PCIe bandwidth: %1 (%2 confidence)</source>
        <translation>PCIe 대역폭: %1 (신뢰도 %2)</translation>
    </message>
    <message>
        <source>formula: cost model facts 6.1</source>
        <translation>공식: cost model facts 6.1</translation>
    </message>
    <message>
        <source>rate: %1</source>
        <translation>속도: %1</translation>
    </message>
    <message>
        <source>formula: cost model facts 6.2</source>
        <translation>공식: cost model facts 6.2</translation>
    </message>
    <message>
        <source>CPU Adam of ZeRO-Offload&apos;s table (low confidence)</source>
        <translation>ZeRO-Offload 표의 CPU Adam (낮은 신뢰도)</translation>
    </message>
    <message>
        <source>found &quot;eager&quot;, which torchvision&apos;s transformers do not have</source>
        <translation>&quot;eager&quot;: torchvision의 트랜스포머에는 없습니다</translation>
    </message>
    <message>
        <source>choose flash, flash1, flash3, efficient, cudnn or math</source>
        <translation>flash, flash1, flash3, efficient, cudnn, math 중에서 고르세요</translation>
    </message>
    <message>
        <source>enable_cpu_offload is FSDP&apos;s: %1 keeps everything on its GPUs.</source>
        <translation>enable_cpu_offload는 FSDP의 것입니다: %1은(는) 모두 GPU에 둡니다.</translation>
    </message>
    <message>
        <source>found a setting of FSDP2 that FSDP1 does not have</source>
        <translation>FSDP1에 없는 FSDP2의 설정입니다</translation>
    </message>
    <message>
        <source>leave it out, or use fsdp_version = 2</source>
        <translation>빼거나 fsdp_version = 2로 하세요</translation>
    </message>
    <message>
        <source>found a setting that is not simulated with FSDP1</source>
        <translation>FSDP1과 함께는 시뮬레이션하지 않는 설정입니다</translation>
    </message>
    <message>
        <source>found 1 with one shard, which FSDP1 runs as NO_SHARD</source>
        <translation>1인데 샤드가 하나입니다. FSDP1은 이것을 NO_SHARD로 실행합니다</translation>
    </message>
    <message>
        <source>use the strategy ddp or single, or a data_parallel_shard_degree above 1</source>
        <translation>전략 ddp나 single을 쓰거나 data_parallel_shard_degree를 1보다 크게 하세요</translation>
    </message>
    <message>
        <source>unit &apos;%1&apos; has %2 modules; FSDP1 wraps one</source>
        <translation>유닛 &apos;%1&apos;에 모듈이 %2개입니다. FSDP1은 하나를 감쌉니다</translation>
    </message>
    <message>
        <source>name single modules in fsdp_wrap, or use fsdp_version = 2</source>
        <translation>fsdp_wrap에 모듈을 하나씩 적거나 fsdp_version = 2로 하세요</translation>
    </message>
    <message>
        <source>a part of unit &apos;%1&apos; is frozen, which a flat parameter cannot be</source>
        <translation>유닛 &apos;%1&apos;의 일부만 고정되어 있습니다. 평탄한 파라미터는 그럴 수 없습니다</translation>
    </message>
    <message>
        <source>freeze whole units, wrap the frozen modules apart (fsdp_wrap), or use fsdp_version = 2</source>
        <translation>유닛 전체를 고정하거나, 고정된 모듈을 따로 감싸거나(fsdp_wrap), fsdp_version = 2로 하세요</translation>
    </message>
    <message>
        <source>unit &apos;%1&apos; lies inside a checkpointed block: its hooks would run again</source>
        <translation>유닛 &apos;%1&apos;이(가) 체크포인트하는 블록 안에 있습니다. 훅이 다시 실행됩니다</translation>
    </message>
    <message>
        <source>wrap the whole block, turn checkpointing off, or use fsdp_version = 2</source>
        <translation>블록 전체를 감싸거나, 체크포인트를 끄거나, fsdp_version = 2로 하세요</translation>
    </message>
    <message>
        <source>found beside fsdp_shard_dim1, expected one of the two</source>
        <translation>fsdp_shard_dim1과 함께 있습니다. 둘 중 하나여야 합니다</translation>
    </message>
    <message>
        <source>no module, parameter or type of module &apos;%1&apos;</source>
        <translation>모듈도 파라미터도 모듈의 종류도 아닙니다: &apos;%1&apos;</translation>
    </message>
    <message>
        <source>a list of integers from %1 to %2</source>
        <translation>%1~%2의 정수 목록</translation>
    </message>
    <message>
        <source>found beside ddp_bucket_cap_mb, expected one of the two</source>
        <translation>ddp_bucket_cap_mb와 함께 있습니다. 둘 중 하나여야 합니다</translation>
    </message>
    <message>
        <source>dropout of this model is not modelled</source>
        <translation>이 모델의 드롭아웃은 모델링하지 않습니다</translation>
    </message>
    <message>
        <source>autocast of this model is not modelled</source>
        <translation>이 모델의 autocast는 모델링하지 않습니다</translation>
    </message>
    <message>
        <source>this model&apos;s kernels are not known for it</source>
        <translation>이 모델의 커널은 이 설정에서 알려져 있지 않습니다</translation>
    </message>
    <message>
        <source>choose a vision transformer of torchvision, a model of llama&apos;s family or GPT-2</source>
        <translation>torchvision의 비전 트랜스포머, llama 계열의 모델 또는 GPT-2를 고르세요</translation>
    </message>
    <message>
        <source>found &quot;%1&quot;, which runs on GPUs only</source>
        <translation>&quot;%1&quot;: GPU에서만 실행됩니다</translation>
    </message>
    <message>
        <source>choose flash, math or eager</source>
        <translation>flash, math, eager 중에서 고르세요</translation>
    </message>
    <message>
        <source>found true with parameters in %1 and products in %2, expected float32 and a shorter one</source>
        <translation>받은 값은 true인데 파라미터는 %1, 곱은 %2입니다. 필요한 값은 float32와 더 짧은 형식</translation>
    </message>
    <message>
        <source>set dtype = &quot;float32&quot; and mixed_precision_param = &quot;bfloat16&quot;</source>
        <translation>dtype = &quot;float32&quot;, mixed_precision_param = &quot;bfloat16&quot;으로 정하세요</translation>
    </message>
    <message>
        <source>found true under FSDP%1, whose mixed precision casts by itself</source>
        <translation>받은 값은 true인데 FSDP%1의 혼합 정밀도는 스스로 형식을 바꿉니다</translation>
    </message>
    <message>
        <source>leave it out, or choose the strategy single, naive or ddp</source>
        <translation>적지 않거나, single, naive, ddp 전략을 고르세요</translation>
    </message>
    <message>
        <source>a trace that is no run of Shardscope&apos;s: another tool, or a simulation, wrote it</source>
        <translation>Shardscope의 실행이 아닌 트레이스입니다: 다른 도구나 시뮬레이션이 썼습니다</translation>
    </message>
    <message>
        <source>open a file of a run; traces of other tools are not read yet</source>
        <translation>실행 파일을 여세요. 다른 도구의 트레이스는 아직 읽지 않습니다</translation>
    </message>
    <message>
        <source>open a file of a run</source>
        <translation>실행 파일을 여세요</translation>
    </message>
    <message>
        <source>traces of other tools are not read yet</source>
        <translation>다른 도구의 트레이스는 아직 읽지 않습니다</translation>
    </message>
    <message>
        <source>this is no run that Shardscope wrote</source>
        <translation>Shardscope가 쓴 실행이 아닙니다</translation>
    </message>
    <message>
        <source>a run in version %1, expected %2</source>
        <translation>실행 파일의 판이 %1입니다. %2이어야 합니다</translation>
    </message>
    <message>
        <source>&apos;about&apos; is no table, or &apos;timeline&apos; is missing</source>
        <translation>&apos;about&apos;이 표가 아니거나 &apos;timeline&apos;이 없습니다</translation>
    </message>
    <message>
        <source>&apos;machine&apos; or &apos;measured&apos; is missing</source>
        <translation>&apos;machine&apos;이나 &apos;measured&apos;가 없습니다</translation>
    </message>
    <message>
        <source>&apos;%1&apos; is no text</source>
        <translation>&apos;%1&apos;이 글이 아닙니다</translation>
    </message>
    <message>
        <source>&apos;%1&apos; is no table</source>
        <translation>&apos;%1&apos;이 표가 아닙니다</translation>
    </message>
    <message>
        <source>&apos;%1&apos; is no list</source>
        <translation>&apos;%1&apos;이 목록이 아닙니다</translation>
    </message>
    <message>
        <source>&apos;%1&apos; is no count</source>
        <translation>&apos;%1&apos;이 1 이상의 정수가 아닙니다</translation>
    </message>
    <message>
        <source>&apos;%1&apos; is no number from 0 to 1e18</source>
        <translation>&apos;%1&apos;이 0에서 1e18까지의 수가 아닙니다</translation>
    </message>
    <message>
        <source>column &apos;%1&apos; is no text</source>
        <translation>&apos;%1&apos; 열이 글이 아닙니다</translation>
    </message>
    <message>
        <source>number %1 of column &apos;%2&apos; is &apos;%3&apos;, expected decimals with a space between two</source>
        <translation>&apos;%2&apos; 열의 %1번째 수가 &apos;%3&apos;입니다. 빈칸으로 나눈 십진수이어야 합니다</translation>
    </message>
    <message>
        <source>number %1 of column &apos;%2&apos; is %3, expected %4 to %5</source>
        <translation>&apos;%2&apos; 열의 %1번째 수가 %3입니다. %4에서 %5까지이어야 합니다</translation>
    </message>
    <message>
        <source>column &apos;%1&apos; has %2 numbers, the first one %3</source>
        <translation>&apos;%1&apos; 열에는 수가 %2개, 첫 열에는 %3개 있습니다</translation>
    </message>
    <message>
        <source>item %1 is no text of its own (the first one is empty)</source>
        <translation>%1번째 항목이 저만의 글이 아닙니다(첫 항목은 비어 있습니다)</translation>
    </message>
    <message>
        <source>item %1 is no figure</source>
        <translation>%1번째 항목이 값이 아닙니다</translation>
    </message>
    <message>
        <source>found %1, expected a list of figures</source>
        <translation>받은 값은 %1, 필요한 것은 값의 목록</translation>
    </message>
    <message>
        <source>%1 figures, expected 1 to %2</source>
        <translation>값이 %1개입니다. 1개에서 %2개까지이어야 합니다</translation>
    </message>
    <message>
        <source>item %1 is %2, expected 0 to 2^61</source>
        <translation>%1번째 항목이 %2입니다. 0에서 2^61까지이어야 합니다</translation>
    </message>
    <message>
        <source>item %1 is a figure that is there already</source>
        <translation>%1번째 항목은 앞에 이미 있는 값입니다</translation>
    </message>
    <message>
        <source>up to row %1, %2 sum up to more than %3</source>
        <translation>%1행까지 더하면 %2이 %3을 넘습니다</translation>
    </message>
    <message>
        <source>the steps of all ranks</source>
        <translation>모든 랭크의 스텝 시간</translation>
    </message>
    <message>
        <source>the times of the spans</source>
        <translation>구간의 시간</translation>
    </message>
    <message>
        <source>the bytes of the spans</source>
        <translation>구간의 바이트 합</translation>
    </message>
    <message>
        <source>the largest values of the counters</source>
        <translation>카운터의 가장 큰 값</translation>
    </message>
    <message>
        <source>&apos;title&apos; is no text, or &apos;end&apos; no time</source>
        <translation>&apos;title&apos;이 글이 아니거나 &apos;end&apos;가 시간이 아닙니다</translation>
    </message>
    <message>
        <source>rank %1 has lanes of others, or a step that ends before it begins</source>
        <translation>랭크 %1에 남의 줄이 있거나, 스텝이 시작 전에 끝납니다</translation>
    </message>
    <message>
        <source>lanes of no rank</source>
        <translation>어느 랭크의 것도 아닌 줄이 있습니다</translation>
    </message>
    <message>
        <source>a run without a rank</source>
        <translation>랭크가 없는 실행입니다</translation>
    </message>
    <message>
        <source>write the file anew</source>
        <translation>파일을 다시 쓰세요</translation>
    </message>
    <message>
        <source>another version of Shardscope ran it: its graph is not the one made today</source>
        <translation>다른 판의 Shardscope가 실행했습니다: 그 그래프는 지금 만드는 것과 다릅니다</translation>
    </message>
    <message>
        <source>measured with the processor %1, the run has %2</source>
        <translation>프로세서 %1에서 잰 시간인데, 실행은 %2에서 했습니다</translation>
    </message>
    <message>
        <source>measured with the number of cores %1, the run has %2</source>
        <translation>코어 %1개에서 잰 시간인데, 실행은 %2개에서 했습니다</translation>
    </message>
    <message>
        <source>measured with the device %1, the run has %2</source>
        <translation>장치 %1에서 잰 시간인데, 실행은 %2에서 했습니다</translation>
    </message>
    <message>
        <source>measured with the transport %1, the run has %2</source>
        <translation>%1로 통신하며 잰 시간인데, 실행은 %2로 했습니다</translation>
    </message>
    <message>
        <source>measured with the artificial link %1, the run has %2</source>
        <translation>인공 링크 %1로 잰 시간인데, 실행은 %2로 했습니다</translation>
    </message>
    <message>
        <source>measure anew with the same options</source>
        <translation>같은 옵션으로 다시 재세요</translation>
    </message>
    <message>
        <source>without a prediction there is nothing to change in it</source>
        <translation>예측이 없으면 바꿀 것이 없습니다</translation>
    </message>
    <message>
        <source>predict the run with the machine&apos;s times first (Plans)</source>
        <translation>먼저 기계의 시간으로 실행을 예측하세요(계획 메뉴)</translation>
    </message>
    <message>
        <source>%1 of layer %2 was not measured: %3</source>
        <translation>층 %2의 %1을 잰 적이 없습니다: %3</translation>
    </message>
    <message>
        <source>calibrate with the same model and batch</source>
        <translation>같은 모델과 배치로 재세요</translation>
    </message>
    <message>
        <source>no transfers among %1 ranks were measured</source>
        <translation>랭크 %1개 사이의 전송을 잰 적이 없습니다</translation>
    </message>
    <message>
        <source>calibrate with the same plan</source>
        <translation>같은 계획으로 재세요</translation>
    </message>
    <message>
        <source>schema &apos;%1&apos;, expected &apos;%2&apos;</source>
        <translation>형식이 &apos;%1&apos;입니다. &apos;%2&apos;이어야 합니다</translation>
    </message>
    <message>
        <source>version %1, expected %2</source>
        <translation>판이 %1입니다. %2이어야 합니다</translation>
    </message>
    <message>
        <source>&apos;%1&apos; is %2, expected %3 to %4</source>
        <translation>&apos;%1&apos;의 값이 %2입니다. %3에서 %4까지이어야 합니다</translation>
    </message>
    <message>
        <source>&apos;%1&apos; is %2, expected %3</source>
        <translation>&apos;%1&apos;의 값은 %2, 필요한 값은 %3</translation>
    </message>
    <message>
        <source>&apos;%1&apos; is empty, expected at least one entry</source>
        <translation>&apos;%1&apos;이 비어 있습니다. 항목이 하나는 있어야 합니다</translation>
    </message>
    <message>
        <source>%1 comes after %2, expected more in each entry</source>
        <translation>%2 다음에 %1이 옵니다. 항목마다 앞의 것보다 커야 합니다</translation>
    </message>
    <message>
        <source>bytes do not ascend</source>
        <translation>바이트가 커지는 순서가 아닙니다</translation>
    </message>
    <message>
        <source>the file is cut off: it ends after %1 bytes, inside the packed data</source>
        <translation>파일이 잘렸습니다: 압축된 자료 한가운데, %1바이트 뒤에서 끝납니다</translation>
    </message>
    <message>
        <source>the packed data is damaged near byte %1 (%2)</source>
        <translation>압축된 자료가 %1바이트 근처에서 깨졌습니다(%2)</translation>
    </message>
    <message>
        <source>more than %1 bytes are packed in it</source>
        <translation>압축을 풀면 %1바이트가 넘습니다</translation>
    </message>
    <message>
        <source>write the file anew: shardscope calibrate -o FILE</source>
        <translation>파일을 다시 쓰세요: `shardscope calibrate -o FILE`</translation>
    </message>
    <message>
        <source>fetch it again</source>
        <translation>파일을 다시 받으세요</translation>
    </message>
    <message>
        <source>name a smaller file</source>
        <translation>더 작은 파일을 여세요</translation>
    </message>
</context>
</TS>
