/**
 * Many hashtags at once, from a text: one a line, `#python core` or `#python 17`, hashtag and zone or anchor id parted by
 * white space or a comma. As hashtags begin with `#` themselves, a comment is a `#` (or several) followed by white space or
 * the end of the line; it may also stand behind an assignment. Empty lines are passed over.
 */
import { QuerentError } from '../../../model/errors.ts'
import { invalidParameter, placed } from '../errors.ts'
import type { Binding, Zone } from '../model.ts'
import { type Assignment, type Bindings, checkAssignment } from './bindings.ts'

/** Longer ones are no assignments; a hashtag has at most 100 characters. */
const MAX_LINE = 1000
const COMMENT = /(^|\s)#+(\s.*)?$/u
const DIGITS = /^[0-9]+$/

/** What the text asks for, ready for `assignMany`; throws `invalid_parameter` naming the first line that is wrong. */
export function loadVocabulary(text: unknown): readonly Assignment[] {
  if (typeof text !== 'string') throw invalidParameter('assignments', text, 'text')
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\r|\n/)
  return lines.flatMap((content, at) => {
    const line = at + 1
    try {
      return parseLine(content, line)
    } catch (error) {
      throw placed(error, `line ${line}`, { line })
    }
  })
}

function parseLine(content: string, line: number): readonly Assignment[] {
  if (content.length > MAX_LINE) throw invalidParameter('assignments', content, 'a hashtag and its place')
  const said = content.replace(COMMENT, '').trim()
  if (said === '') return []
  // The last field is the place; whatever is before it, commas inside included, is the hashtag.
  const [, hashtag, place] = /^(.*?)[\s,]+([^\s,]+)$/u.exec(said) ?? []
  if (!hashtag || place === undefined) {
    throw invalidParameter('assignments', said, 'a hashtag, and a zone or an anchor id (a comment begins with "# ")')
  }
  const assignment = DIGITS.test(place) ? { hashtag, anchorId: Number(place), line } : { hashtag, zone: place, line }
  checkAssignment(assignment)
  return [assignment]
}

/** What a new user needs to store and to ask at once: topics of developers. Core first, each zone in its own order. */
export function starterVocabulary(): readonly { readonly hashtag: string; readonly zone: Zone }[] {
  return (Object.keys(STARTER_VOCABULARY) as Zone[]).flatMap(zone =>
    STARTER_VOCABULARY[zone]
      .trim()
      .split(/\s+/)
      .map(word => ({ hashtag: `#${word}`, zone })),
  )
}

/**
 * Assigns what of the starter vocabulary is not assigned yet, and returns that. Hashtags that sit elsewhere stay there; a
 * zone that is full takes no more. Doing it again changes nothing.
 */
export function assignStarter(bindings: Bindings): readonly Binding[] {
  const isAssigned = ({ hashtag }: { readonly hashtag: string }) => bindings.current.resolve(hashtag) !== null
  if (starterVocabulary().every(isAssigned)) return []
  return bindings.change(draft =>
    starterVocabulary().flatMap(({ hashtag, zone }) => {
      if (draft.resolve(hashtag) !== null) return []
      try {
        return [draft.assign({ hashtag, target: { zone } })]
      } catch (error) {
        if (error instanceof QuerentError && error.code === 'zone_full') return []
        throw error
      }
    }),
  )
}

export const STARTER_VOCABULARY: Readonly<Record<Zone, string>> = {
  // Paradigms, languages and whole domains: what a text is about at large.
  Core: `
    programming python javascript typescript java go rust c c++ c# ruby php kotlin swift scala shell sql
    web frontend backend mobile desktop games embedded databases networking security devops cloud testing
    ai machine_learning data_science data_engineering algorithms architecture design operations performance
    observability compilers operating_systems distributed_systems hardware graphics mathematics statistics
    documentation research product project management learning writing business knowledge ai_tools
  `,
  // The bulk of topics.
  Mid: `
    async asyncio await concurrency parallelism threads processes coroutines callbacks promises events streams
    generators iterators closures functions classes objects interfaces protocol generics typing types enum dataclass
    inheritance composition decorators macros metaprogramming reflection modules packages imports namespaces stdlib
    pathlib contextlib functools error errors exceptions panic logging debugging profiling tracing breakpoints memory
    garbage_collection pointers ownership borrowing allocation stack heap leak cache caching buffer strings numbers
    floats integers dates timezone unicode encoding regex parsing lexer parser grammar ast serialization json yaml toml
    xml csv markdown html css dom svg canvas webgl wasm webassembly component components state hooks props routing
    rendering ssr hydration forms validation accessibility a11y i18n localization animation layout flexbox grid
    responsive styling theme icons fonts images video audio
    react vue svelte angular solid nextjs nuxt remix astro vite webpack rollup esbuild babel eslint prettier biome
    jquery tailwind bootstrap node.js node nodejs deno bun npm pnpm yarn express fastify hono nestjs
    django flask fastapi pydantic sqlalchemy celery pytest unittest pip poetry uv conda virtualenv jupyter notebook
    numpy pandas polars scipy matplotlib scikit-learn pytorch tensorflow keras jax transformers huggingface onnx
    spring maven gradle junit hibernate rails laravel symfony composer .net dotnet asp.net blazor unity unreal godot
    cargo crates tokio serde goroutines channels gin android ios flutter react_native electron tauri
    http https http2 http3 rest graphql grpc websocket sse webhook api apis endpoint openapi swagger rpc soap
    tcp udp ip ipv6 dns dhcp tls ssl ssh vpn proxy firewall router routers load_balancer cdn latency bandwidth packet
    socket sockets port ports nginx apache caddy envoy haproxy server client browser chrome firefox safari cookies
    session sessions cors csrf xss injection authentication authorization oauth oauth2 oidc saml jwt token tokens
    password passwords encryption hashing signature certificate certificates keys secrets vault permissions roles acl
    rbac sandbox vulnerability cve malware phishing audit compliance privacy gdpr threat pentest
    database postgres postgresql mysql mariadb sqlite oracle mssql mongodb redis cassandra dynamodb elasticsearch
    opensearch neo4j clickhouse duckdb snowflake bigquery schema schemas table tables index indexes query queries join
    joins transaction transactions isolation locking deadlock replication sharding partitioning backup restore migration
    migrations orm normalization constraint trigger view views nosql graph vector embedding embeddings search ranking
    retrieval rag bm25 fulltext etl pipeline pipelines warehouse lakehouse spark hadoop kafka rabbitmq nats pubsub queue
    queues message messages airflow dbt parquet arrow
    docker container containers kubernetes k8s helm podman terraform ansible pulumi ci cd ci/cd jenkins github gitlab
    bitbucket actions build builds deploy deployment deployments release releases rollback canary blue_green artifact
    registry image aws azure gcp lambda serverless s3 ec2 vm virtualization hypervisor linux ubuntu debian fedora windows
    macos unix kernel driver filesystem disk storage cpu gpu ram bash zsh powershell terminal cli cron systemd process
    signal environment configuration config settings flags
    git commit commits branch branches merge rebase conflict pull_request review code_review refactoring refactor
    technical_debt lint linting formatter style naming comments readme docs tutorial guide reference example examples
    changelog license monorepo dependency dependencies versioning semver
    test tests unit_test integration_test e2e regression coverage mock mocks stub fixture fixtures fuzzing property_testing
    benchmark benchmarks load_testing playwright cypress selenium vitest jest tdd bdd qa bug bugs issue issues crash hang
    timeout retry race_condition flaky incident postmortem alert alerts monitoring metrics prometheus grafana sentry
    opentelemetry dashboard sla uptime throughput scaling scalability availability reliability resilience failover
    rate_limit throttling idempotency consistency consensus raft paxos eventual_consistency cap microservices monolith
    event_sourcing cqrs ddd hexagonal clean_architecture patterns singleton factory observer dependency_injection
    functional object_oriented immutability recursion sorting searching trees hash_table linked_list array arrays list
    lists dictionary map maps set sets tuple queue_theory dynamic_programming greedy complexity graphs
    llm llms gpt claude claude_code openai anthropic gemini llama mistral ollama prompt prompts prompting agent agents
    mcp tools tool_use context context_window memory_management fine_tuning training inference model models dataset
    datasets tokenizer attention transformer diffusion classification regression_model clustering neural_network
    reinforcement_learning evaluation hallucination chatbot assistant copilot langchain
    user users customer customers requirements specification feature features roadmap planning estimate sprint scrum
    kanban agile backlog meeting meetings notes decision decisions idea ideas question questions answer answers task
    tasks todo workflow process_improvement team hiring onboarding interview feedback email calendar budget pricing
    contract support ux ui usability wireframe prototype figma color colors typography brand marketing analytics seo
    shader shaders opengl vulkan physics collision sprite pixel assembly register interrupt firmware arduino
    raspberry_pi sensor robotics fpga bluetooth wifi usb commodore c64 retro emulator
    blockchain crypto wallet ethereum bitcoin payments stripe invoice
    homelab smart_home photography music cooking travel health fitness finance books science history language
  `,
  // Modifiers: how new, how ready, how hard, for whom.
  Outer: `
    stable draft beta alpha preview experimental deprecated obsolete legacy current latest new old modern classic
    updates update upgrade fixed broken open closed done pending blocked urgent important minor major critical optional
    required recommended proposed accepted rejected approved final temporary permanent public private internal external
    personal work local remote production staging development offline online
    beginner intermediate advanced expert introduction overview detailed short long quick slow fast simple complex
    basic common rare obscure niche best worst good bad safe unsafe free paid open_source proprietary official community
    english spanish german french italian portuguese chinese japanese
    2018 2019 2020 2021 2022 2023 2024 2025 2026 2027 2028 2029 2030
    v1 v2 v3 v4 v5 v0.1 v1.0 v2.0 v3.0 v3.11 v3.12 v3.13 v3.14 3.10 3.11 3.12 3.13 3.14 es5 es6 es2024 lts rc nightly
    today weekly monthly yearly daily reviewed unreviewed verified unverified question_open favourite archived
  `,
}
