/**
 * The starter vocabulary: topics of software developers with which a new user can store and query at once. Each item is a hashtag without
 * its `#`, and its anchor id; hashtags near in meaning have anchors near each other. Stores contain these anchor ids, so they must never
 * change.
 */
import type { Zone } from '../model.ts'

export const STARTER: Readonly<Record<Zone, string>> = {
  // Hashtags of the zone Core: paradigms, languages and whole domains.
  Core: `
    programming=276 python=972 javascript=997 typescript=231 java=268 go=989 rust=981 c=485 c++=174 c#=1000 ruby=867 php=840 kotlin=777
    swift=712 scala=978 shell=829 sql=953 web=182 frontend=750 backend=825 mobile=705 desktop=924 games=172 embedded=971
    databases=916 networking=797 security=951 devops=968 cloud=575 testing=877 ai=203 machine_learning=992 data_science=225
    data_engineering=990 algorithms=828 architecture=170 design=196 operations=965 performance=801 observability=900
    compilers=62 operating_systems=157 distributed_systems=817 hardware=950 graphics=847 mathematics=742 statistics=473
    documentation=601 research=921 product=911 project=197 management=941 learning=138 writing=860 business=954 knowledge=1
    ai_tools=786
  `,
  // Hashtags of the zone Mid: most topics, such as techniques and tools.
  Mid: `
    async=2490 asyncio=4603 await=5187 concurrency=4508 parallelism=3539 threads=3305 processes=2263 coroutines=3808
    callbacks=7202 promises=5604 events=4778 streams=4978 generators=2518 iterators=6740 closures=7405 functions=2191
    classes=3260 objects=2839 interfaces=4950 protocol=4280 generics=1155 typing=4867 types=3644 enum=7377
    dataclass=4267 inheritance=6979 composition=1189 decorators=4221 macros=1140 metaprogramming=1364 reflection=5050
    modules=5118 packages=5529 imports=5371 namespaces=7161 stdlib=2966 pathlib=3323 contextlib=7032 functools=2296
    error=6940 errors=6268 exceptions=7482 panic=6818 logging=6083 debugging=6406 profiling=4918 tracing=7471
    breakpoints=6305 memory=2656 garbage_collection=3392 pointers=1197 ownership=7019 borrowing=5533 allocation=2556
    stack=1194 heap=1159 leak=5007 cache=3766 caching=5140 buffer=5771 strings=4671 numbers=2083 floats=1020
    integers=1892 dates=7389 timezone=6918 unicode=7416 encoding=6653 regex=4862 parsing=7258 lexer=1964 parser=7331
    grammar=6607 ast=3709 serialization=5094 json=1136 yaml=6921 toml=6468 xml=4796 csv=6833 markdown=7353 html=3317
    css=4318 dom=7473 svg=4841 canvas=2473 webgl=3095 wasm=7304 webassembly=6704 component=4458 components=3479
    state=7228 hooks=7091 props=4525 routing=6891 rendering=1302 ssr=5887 hydration=3394 forms=2450 validation=3776
    accessibility=2380 a11y=5133 i18n=6492 localization=6375 animation=1285 layout=2464 flexbox=5701 grid=3565
    responsive=2699 styling=3718 theme=1861 icons=2716 fonts=6684 images=1737 video=1418 audio=1914 react=5435
    vue=6737 svelte=6835 angular=4870 solid=4275 nextjs=1115 nuxt=7444 remix=3054 astro=7484 vite=5076 webpack=6757
    rollup=6840 esbuild=7354 babel=5603 eslint=5867 prettier=6535 biome=1068 jquery=2863 tailwind=2363 bootstrap=5886
    node.js=2565 node=2376 nodejs=3676 deno=7105 bun=1232 npm=4969 pnpm=6877 yarn=1001 express=3954 fastify=3421
    hono=5032 nestjs=1687 django=1036 flask=1746 fastapi=4763 pydantic=5091 sqlalchemy=2287 celery=6068 pytest=6635
    unittest=2532 pip=1983 poetry=4563 uv=6062 conda=6794 virtualenv=6622 jupyter=7380 notebook=1005 numpy=3955
    pandas=5127 polars=7127 scipy=3217 matplotlib=5280 scikit-learn=2492 pytorch=5102 tensorflow=2019 keras=2123
    jax=6713 transformers=3481 huggingface=4685 onnx=5029 spring=5017 maven=1087 gradle=7445 junit=1947 hibernate=5757
    rails=1018 laravel=2219 symfony=3430 composer=1031 .net=3533 dotnet=2615 asp.net=3814 blazor=7465 unity=1012
    unreal=7129 godot=5317 cargo=3223 crates=4042 tokio=7315 serde=7475 goroutines=4433 channels=3618 gin=7494
    android=1718 ios=1594 flutter=1376 react_native=7488 electron=7300 tauri=5837 http=4048 https=4232 http2=5550
    http3=4079 rest=5549 graphql=3947 grpc=7396 websocket=7039 sse=7386 webhook=5096 api=4214 apis=3210 endpoint=1801
    openapi=5705 swagger=3920 rpc=5899 soap=6947 tcp=4507 udp=7107 ip=5189 ipv6=6462 dns=5282 dhcp=7321 tls=4099
    ssl=3787 ssh=3008 vpn=6452 proxy=5488 firewall=5870 router=4705 routers=7036 load_balancer=6444 cdn=7269
    latency=2623 bandwidth=4022 packet=4947 socket=7409 sockets=5676 port=7430 ports=7457 nginx=4653 apache=3122
    caddy=7260 envoy=7420 haproxy=6577 server=2801 client=2943 browser=3309 chrome=4909 firefox=5197 safari=3600
    cookies=3286 session=2267 sessions=3684 cors=4728 csrf=5564 xss=7092 injection=7120 authentication=7411
    authorization=6367 oauth=5744 oauth2=6558 oidc=4807 saml=7240 jwt=2974 token=4324 tokens=4588 password=7165
    passwords=5538 encryption=6878 hashing=4804 signature=7497 certificate=7434 certificates=5711 keys=1108
    secrets=5963 vault=4699 permissions=5231 roles=5069 acl=3655 rbac=7124 sandbox=3470 vulnerability=5360 cve=6374
    malware=5366 phishing=7209 audit=5274 compliance=2548 privacy=6046 gdpr=3306 threat=7390 pentest=1932
    database=2604 postgres=2809 postgresql=4722 mysql=2552 mariadb=2546 sqlite=3938 oracle=1944 mssql=3541
    mongodb=5879 redis=5300 cassandra=3174 dynamodb=5108 elasticsearch=7312 opensearch=6746 neo4j=6206 clickhouse=3018
    duckdb=1484 snowflake=3434 bigquery=1091 schema=2662 schemas=4515 table=2887 tables=1960 index=7186 indexes=5531
    query=1522 queries=2501 join=3638 joins=2487 transaction=5678 transactions=4489 isolation=6907 locking=5192
    deadlock=6638 replication=7446 sharding=3622 partitioning=2092 backup=5234 restore=5653 migration=7261
    migrations=5580 orm=7370 normalization=5753 constraint=1865 trigger=3156 view=1185 views=1387 nosql=5766
    graph=4656 vector=4455 embedding=3589 embeddings=3342 search=6379 ranking=5909 retrieval=4272 rag=6873 bm25=5894
    fulltext=6182 etl=4748 pipeline=2250 pipelines=1976 warehouse=4312 lakehouse=2734 spark=1008 hadoop=1946
    kafka=2290 rabbitmq=1388 nats=7345 pubsub=2270 queue=4174 queues=4237 message=4119 messages=3523 airflow=3236
    dbt=3966 parquet=6451 arrow=1769 docker=4449 container=3382 containers=2778 kubernetes=3625 k8s=4010 helm=2356
    podman=3084 terraform=1247 ansible=1009 pulumi=6434 ci=6656 cd=7085 ci/cd=7493 jenkins=1328 github=6344
    gitlab=1575 bitbucket=5059 actions=3355 build=2070 builds=3227 deploy=3876 deployment=5021 deployments=3740
    release=7219 releases=4824 rollback=6948 canary=3031 blue_green=5083 artifact=4570 registry=5116 image=1193
    aws=1656 azure=3695 gcp=7491 lambda=1316 serverless=5829 s3=2419 ec2=2058 vm=5320 virtualization=7418
    hypervisor=5654 linux=1092 ubuntu=1063 debian=1344 fedora=1767 windows=2167 macos=2612 unix=1271 kernel=2884
    driver=2005 filesystem=1789 disk=3125 storage=3216 cpu=1284 gpu=1158 ram=2292 bash=1010 zsh=7176 powershell=2320
    terminal=1965 cli=4836 cron=7010 systemd=3756 process=3083 signal=1429 environment=1984 configuration=1181
    config=1588 settings=1023 flags=5220 git=4921 commit=6488 commits=6566 branch=3687 branches=3212 merge=3693
    rebase=7266 conflict=7323 pull_request=7474 review=6781 code_review=7077 refactoring=4889 refactor=5855
    technical_debt=7395 lint=5144 linting=4518 formatter=6106 style=4488 naming=6179 comments=2238 readme=5035
    docs=5098 tutorial=6498 guide=1111 reference=1192 example=1175 examples=2373 changelog=6939 license=4255
    monorepo=7429 dependency=7247 dependencies=6898 versioning=6955 semver=5302 test=2057 tests=2573 unit_test=3476
    integration_test=3205 e2e=6710 regression=2972 coverage=2878 mock=1206 mocks=1434 stub=5419 fixture=7249
    fixtures=6894 fuzzing=3519 property_testing=2325 benchmark=1156 benchmarks=2299 load_testing=3786 playwright=3176
    cypress=5381 selenium=6194 vitest=2728 jest=4759 tdd=4216 bdd=4986 qa=2673 bug=7374 bugs=7394 issue=7206
    issues=5877 crash=5264 hang=6229 timeout=7476 retry=7264 race_condition=7367 flaky=2136 incident=7195
    postmortem=7349 alert=5664 alerts=4842 monitoring=4116 metrics=5910 prometheus=4837 grafana=5438 sentry=2968
    opentelemetry=7272 dashboard=1952 sla=6149 uptime=7407 throughput=2797 scaling=4087 scalability=1132
    availability=5204 reliability=4770 resilience=6910 failover=5082 rate_limit=7117 throttling=5525 idempotency=6634
    consistency=6976 consensus=6090 raft=1039 paxos=6608 eventual_consistency=6343 cap=2478 microservices=2153
    monolith=7245 event_sourcing=5324 cqrs=3903 ddd=5623 hexagonal=7432 clean_architecture=1161 patterns=3418
    singleton=7307 factory=1278 observer=2610 dependency_injection=7364 functional=2193 object_oriented=2977
    immutability=3646 recursion=7458 sorting=7362 searching=4501 trees=2183 hash_table=4619 linked_list=4491
    array=6996 arrays=6591 list=4527 lists=5725 dictionary=7438 map=2684 maps=2029 set=1177 sets=3778 tuple=4634
    queue_theory=4297 dynamic_programming=1019 greedy=3462 complexity=1199 graphs=3768 llm=6528 llms=6613 gpt=6532
    claude=5273 claude_code=3981 openai=5642 anthropic=1046 gemini=6703 llama=7232 mistral=6523 ollama=6985
    prompt=2857 prompts=2560 prompting=3494 agent=6143 agents=4955 mcp=7231 tools=1531 tool_use=2721 context=6479
    context_window=6105 memory_management=4000 fine_tuning=5235 training=3679 inference=3592 model=1465 models=2342
    dataset=4257 datasets=4746 tokenizer=3384 attention=3710 transformer=2841 diffusion=4194 classification=2594
    regression_model=3245 clustering=2651 neural_network=1266 reinforcement_learning=1671 evaluation=3960
    hallucination=6772 chatbot=1511 assistant=4090 copilot=2771 langchain=6764 user=1054 users=2002 customer=1994
    customers=3153 requirements=1676 specification=1034 feature=1601 features=1069 roadmap=2157 planning=1213
    estimate=2521 sprint=2293 scrum=3748 kanban=3261 agile=1955 backlog=5873 meeting=3144 meetings=3454 notes=1057
    decision=3977 decisions=4431 idea=2596 ideas=3997 question=2185 questions=2317 answer=1174 answers=2782 task=1635
    tasks=2368 todo=1014 workflow=3003 process_improvement=2558 team=4532 hiring=4648 onboarding=4651 interview=3729
    feedback=5524 email=4865 calendar=7050 budget=4607 pricing=3383 contract=7318 support=6151 ux=5415 ui=1657
    usability=2745 wireframe=2834 prototype=1037 figma=3307 color=3931 colors=4641 typography=7281 brand=2072
    marketing=1424 analytics=2021 seo=5647 shader=5034 shaders=6414 opengl=2142 vulkan=7440 physics=1924
    collision=4996 sprite=2528 pixel=2330 assembly=1614 register=6539 interrupt=4749 firmware=4313 arduino=3215
    raspberry_pi=1998 sensor=2730 robotics=1696 fpga=1537 bluetooth=2526 wifi=5375 usb=3093 commodore=7496 c64=4609
    retro=6847 emulator=4137 blockchain=7159 crypto=6994 wallet=4407 ethereum=6291 bitcoin=7045 payments=6418
    stripe=7236 invoice=7391 homelab=1664 smart_home=1249 photography=3265 music=1022 cooking=5562 travel=4329
    health=5370 fitness=5142 finance=5787 books=3716 science=1650 history=5599 language=7135
  `,
  // Hashtags of the zone Outer: modifiers, such as how new, how mature, how difficult, or for which readers.
  Outer: `
    stable=7885 draft=8462 beta=7653 alpha=7939 preview=7581 experimental=7505 deprecated=8658 obsolete=7843
    legacy=9220 current=7727 latest=8026 new=9555 old=7799 modern=9269 classic=9950 updates=9304 update=8281
    upgrade=8314 fixed=9526 broken=8108 open=9877 closed=9479 done=9953 pending=8830 blocked=9972 urgent=8625
    important=9443 minor=7793 major=8468 critical=8413 optional=9590 required=8302 recommended=7681 proposed=8238
    accepted=9215 rejected=9452 approved=8388 final=8370 temporary=8031 permanent=8831 public=7645 private=7511
    internal=7586 external=8105 personal=8522 work=9086 local=7713 remote=7935 production=7674 staging=7750
    development=8013 offline=9786 online=7689 beginner=7931 intermediate=7777 advanced=7659 expert=8576
    introduction=8290 overview=7675 detailed=8675 short=9766 long=10000 quick=9065 slow=8562 fast=9655 simple=9396
    complex=7501 basic=7539 common=7987 rare=8892 obscure=9996 niche=9736 best=9752 worst=9995 good=9468 bad=9582
    safe=8958 unsafe=8083 free=9004 paid=9441 open_source=7758 proprietary=8165 official=8295 community=7608
    english=9223 spanish=9638 german=7954 french=9815 italian=9999 portuguese=9629 chinese=9778 japanese=7924
    2018=8932 2019=9745 2020=7965 2021=9168 2022=7502 2023=8715 2024=9889 2025=8119 2026=9564 2027=9708 2028=8540
    2029=9895 2030=9454 v1=8498 v2=8333 v3=8516 v4=7566 v5=8090 v0.1=9758 v1.0=9158 v2.0=7516 v3.0=9420 v3.11=7898
    v3.12=8249 v3.13=9645 v3.14=9997 3.10=9478 3.11=8213 3.12=9255 3.13=9959 3.14=9662 es5=7629 es6=7794 es2024=7591
    lts=7921 rc=8827 nightly=9132 today=8087 weekly=7561 monthly=7680 yearly=8140 daily=7628 reviewed=7848
    unreviewed=8694 verified=9864 unverified=8493 question_open=9138 favourite=7519 archived=7805
  `,
}
