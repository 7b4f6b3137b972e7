/** Commands of the engine and of the lens for conversations that each call one operation. */
import { resolve } from 'node:path'
import type { Json, JsonObject } from '../../base/canonical.ts'
import type {
  AddReport,
  Backup,
  EntryView,
  Examination,
  ExplainAnswer,
  ModelCheck,
  ModelList,
  Status,
  SyncReport,
  UsedModel,
} from '../../engine/engine.ts'
import { invalidArgument } from '../../model/errors.ts'
import type { Count, Page } from '../../model/page.ts'
import { type FlagNames, liveFlags, type OptionGroups, withLive } from './flags.ts'
import type { Cli } from './io.ts'
import { command, type Flags, type OperationCommand } from './operation-command.ts'
import { all, each } from './render/answer.ts'
import {
  addText,
  backupText,
  countText,
  doctorText,
  entryText,
  explainText,
  footer,
  listText,
  modelCheckText,
  modelsText,
  pageText,
  recallText,
  statusText,
  syncText,
  usedModelText,
} from './render/page.ts'
import { assertExists } from './session.ts'

/**
 * Default time limit of a query in milliseconds, for a command. Longer than the limit in an engine that stays open, because a command first
 * has to load the embedding model, which takes seconds on a busy machine.
 */
const QUERY_TIMEOUT_MS = 30_000

const TIMEOUT = { help: 'time that the query may take (default: 30)' }
/** The field `chunk_size` gets no flag: it sets the size of pieces that other interfaces stream. */
const QUERY_FLAGS: FlagNames = { timeout_ms: TIMEOUT, chunk_size: null }

/** Fields of a query that the command `explain` does not have, because it explains a single entry: paging and output. */
const PAGE_FIELDS = ['limit', 'cursor', 'touch', 'explain', 'trace', 'passages', 'excerpt_length', 'chunk_size']

const PAGES = { cursor: 'cursor', next: 'cursor' }

const WORDS = { words: 'mode=words' }

const WAIT = { help: 'wait until there are vectors; words find it at once. Default: true' }

const QUERY_GROUPS: OptionGroups = {
  'Common options': ['limit', 'collection', 'tag', 'mode', 'words', 'any', 'explain', 'group', 'more'],
  Filters: ['kind', 'any-tag', 'not-tag', 'id', 'metadata', 'fields', 'per-collection', 'per-origin'],
  Time: [
    ...['created', 'updated', 'accessed', 'known'].flatMap(name => [`${name}-after`, `${name}-before`]),
    ...['valid-at', 'as-of', 'known-at'],
  ],
  Scoring: ['meaning-weight', 'no-memory', 'diversity', 'phrase', 'touch'],
  Advanced: [
    ...['syntax', 'lens', 'options', 'cursor', 'passages', 'excerpt-length', 'no-approximate', 'timeout', 'trace'],
    ...['stream', 'fail-empty'],
  ],
}

const ADD_GROUPS: OptionGroups = {
  'Common options': ['collection', 'tag', 'kind', 'code', 'chat', 'no-wait'],
  'Who may see them': ['visibility', 'federation'],
  'With --chat': ['profile', 'chat-format', 'conversation', 'zone', 'date-order'],
  Advanced: ['map', 'lens'],
}

const FAIL_EMPTY = { '--fail-empty': 'end with exit code 3 when nothing is relevant' }

/** Makes the folder of a model absolute. The names of the models that come with the package are kept, because they are not paths. */
function modelFolderOf({ folder, ...input }: JsonObject, _flags: Flags, { io }: Cli): JsonObject {
  const isName = folder === 'built-in' || folder === 'multilingual'
  return { ...input, folder: isName ? folder : resolve(io.workingFolder, String(folder)) }
}

function queryOf(input: JsonObject): JsonObject {
  return { timeout_ms: QUERY_TIMEOUT_MS, ...input }
}

function isUrl(path: string): boolean {
  return /^[a-z][a-z\d+.-]+:\/\//i.test(path)
}

/** Checks that options for reading chats, such as `--profile`, are given only together with `--chat`. */
function chatOf(input: JsonObject, { chat }: Flags): JsonObject {
  if (chat === true) return { chat: {}, ...input }
  const [field] = Object.entries((input['chat'] ?? {}) as JsonObject)
  if (field === undefined) return input
  const name = field[0] === 'format' ? 'chat-format' : field[0].replaceAll('_', '-')
  throw invalidArgument(`--${name}`, field[1], '--chat beside it')
}

const VARIABLES = {
  chromadb: ['QUERENT_CHROMA_URL', 'QUERENT_CHROMA_TENANT', 'QUERENT_CHROMA_DATABASE', 'QUERENT_CHROMA_TOKEN'],
  qdrant: ['QUERENT_QDRANT_URL', '', '', 'QUERENT_QDRANT_API_KEY'],
} as const

/**
 * Completes the target of a mirror from environment variables: the server's address if no flag gives it, and the API key, for which there
 * is no flag.
 */
function mirrorOf(input: JsonObject, _flags: Flags, { io }: Cli): JsonObject {
  const variables = VARIABLES[input['to'] as keyof typeof VARIABLES] ?? []
  const values = variables.map((variable, at) => [['url', 'tenant', 'database', 'token'][at], io.env[variable]])
  const target = { ...Object.fromEntries(values.filter(([, value]) => value)), ...input }
  if (variables[0] !== undefined && !('url' in target)) {
    throw invalidArgument('--url', '', `an address, here or in ${variables[0]}`)
  }
  return target
}

/**
 * An input object with one field, `field`: the given paths made absolute, as the store has added paths. An empty object if no paths are
 * given.
 */
function absolutePaths(field: string, given: unknown, folder: string): JsonObject {
  const paths = (given ?? []) as readonly string[]
  return paths.length === 0 ? {} : { [field]: paths.map(path => resolve(folder, path)) }
}

const UNOWNED =
  'an earlier version made it, and it has records that are not of this store; it was not changed; delete it there if it is yours'

export const MAIN_COMMANDS: readonly OperationCommand[] = [
  command<Page>({
    name: 'query <words...>',
    examples: [
      'querent query how does decay work  # the best ten passages, with reasons',
      `querent query '"flat scan" -kernel tag:index'  # a phrase, without a word, with a tag`,
      'querent query --words --limit 3 parseInput  # by words alone',
      'querent query --group passage how does decay work  # the ten best passages, from any documents',
      'querent query --json colour models | jq .items[0]  # for programs',
      'querent query --stream colour models | jq .title  # the same, streamed',
    ],
    arguments: ['text'],
    flags: QUERY_FLAGS,
    shorthands: WORDS,
    groups: QUERY_GROUPS,
    options: FAIL_EMPTY,
    input: queryOf,
    embeds: true,
    readsFiles: true,
    more: made => made.alias('search'),
    stream: {
      list: 'items',
      // The cast is safe: `rest` is the streamed answer without its items, and apart from these it has all fields of a page.
      end: (rest, shown) => footer(rest as unknown as Page, shown),
    },
    pages: PAGES,
    print: pageText,
  }),
  command({
    name: 'recall <words...>',
    operation: 'conversations.query',
    about: 'search conversations for what was said',
    examples: [
      'querent recall when did Mira move the kiln  # the best ten messages of all conversations',
      'querent recall --conversation home --speaker Mira where is the kiln  # what Mira said there',
      'querent recall --max-tokens 2000 --json what do we know of the kiln  # for a prompt, in chronological order',
    ],
    arguments: ['text'],
    flags: QUERY_FLAGS,
    shorthands: WORDS,
    options: FAIL_EMPTY,
    input: queryOf,
    embeds: true,
    pages: PAGES,
    print: recallText,
  }),
  command({
    name: 'watch <words...>',
    about: 'report changes of an answer until Ctrl-C',
    examples: [
      'querent watch how does decay work  # a line for each entry that comes, changes or goes',
      'querent watch --no-initial --json tag:incident | jq .id  # events as JSON lines, from now on',
    ],
    arguments: ['text'],
    flags: { ...QUERY_FLAGS, ...liveFlags('') },
    shorthands: WORDS,
    more: withLive,
    input: queryOf,
    run: async (input, flags, cli) => (await import('./commands/watch.ts')).watchOperation(cli, flags, 'watch', input),
  }),
  command<ExplainAnswer>({
    name: 'explain <id> <words...>',
    examples: [
      'querent explain docs/decay.md how does decay work  # why it is there, or what dropped it',
      'querent explain a --over b how does decay work  # why a is ranked above b, and what would swap them',
    ],
    arguments: ['id', 'query.text'],
    flags: { 'query.timeout_ms': TIMEOUT, ...Object.fromEntries(PAGE_FIELDS.map(name => [`query.${name}`, null])) },
    shorthands: { words: 'query.mode=words' },
    input: ({ query, ...input }) => ({ ...input, query: queryOf(query as JsonObject) }),
    embeds: true,
    readsFiles: true,
    print: explainText,
  }),
  command<Count>({
    name: 'count <words...>',
    examples: ['querent count tag:draft updated:>2025-01-01'],
    arguments: ['text'],
    flags: { timeout_ms: TIMEOUT, ...Object.fromEntries(PAGE_FIELDS.map(name => [name, null])) },
    shorthands: WORDS,
    input: queryOf,
    embeds: true,
    readsFiles: true,
    print: countText,
  }),
  command<Page>({
    name: 'similar <id>',
    readsFiles: true,
    print: (page, shown) => pageText(page, { ...shown, input: { any: true } }),
  }),
  command({
    name: 'remember <text>',
    operation: 'conversations.remember',
    about: 'store one message or note; the next query finds it',
    examples: [
      'querent remember "I moved to Lugo." --speaker Mira --conversation home --at 2025-03-14  # who, where and when',
    ],
    creates: true,
    embeds: true,
    flags: { wait: WAIT },
    // Waits until the entry's vector is made, because after this command no process may be running to make it.
    defaults: { wait: true },
    print: each('', '{id}'),
  }),
  command<EntryView>({ name: 'get <id>', print: entryText }),
  command({
    name: 'list',
    examples: ['querent list --collection notes --limit 20  # the first twenty notes'],
    pages: PAGES,
    print: listText,
  }),
  command({
    name: 'put',
    examples: [
      `querent put --entry '{"title": "Restore", "content": "Backups are restored on Sundays."}'  # one entry, or a list`,
    ],
    embeds: true,
    flags: { wait: WAIT },
    // Waits until the entries' vectors are made, because after this command no process may be running to make them.
    input: ({ entries, ...input }) => ({
      wait: true,
      ...input,
      ...(entries !== undefined && { entries: [entries].flat() as Json[] }),
    }),
    creates: true,
  }),
  command({ name: 'touch <ids...>', examples: ['querent touch notes/login-flow.md  # count a use of this entry'] }),
  command({ name: 'delete <ids...>', print: each('', '{deleted} deleted') }),
  command<Status>({ name: 'status', print: statusText }),
  command({
    name: 'init',
    opensAll: true,
    operation: 'status',
    about: 'create a store in this folder',
    examples: ['querent init  # in .querent here', 'querent init --home ~/.querent  # in a folder of your choice'],
    creates: true,
    // If no home (the folder for the store) is named, `init` creates it in the working folder and does not look for one in the folders
    // above, because the user means the folder in which the command is run.
    call: (_input, { cli: { io }, flags, run }) =>
      run({ home: flags.home ?? (io.env['QUERENT_HOME'] || resolve(io.workingFolder, '.querent')) }),
    print: each('', 'store ready in {home}, {entries} entries'),
  }),
  command<AddReport>({
    name: 'add <paths...>',
    opensAll: true,
    examples: [
      'querent add notes --collection notes --tag draft  # into a collection, with a tag',
      'querent add talk.jsonl --map content=text --map title=topic  # JSON lines with other field names',
      'querent add --chat conversations.json  # an export of conversations: each message is an entry',
    ],
    groups: ADD_GROUPS,
    flags: {
      'chat.format': { name: 'chat-format', help: 'with --chat: program that wrote the export (default: recognised)' },
    },
    options: {
      '--chat': 'they are exports of conversations (JSON lines, ChatGPT, Claude, Slack, WhatsApp, mail)',
      '--code': 'read code as concepts and links: see `querent context`',
    },
    input: (input, flags, { io }) => ({
      ...chatOf(input, flags),
      // A URL is passed on unchanged rather than made an absolute path; the operation then rejects it.
      paths: (input['paths'] as readonly string[]).map(path => (isUrl(path) ? path : resolve(io.workingFolder, path))),
    }),
    creates: true,
    call: async (input, { cli, flags, run }) => {
      const paths = input['paths'] as readonly string[]
      if (!paths.some(isUrl)) await assertExists(cli, paths)
      if (flags['code'] === true) return (await import('./context-commands.ts')).addCode(cli, flags, input)
      return run()
    },
    // The command fails only if there were errors and no file was added: some bad files among good ones are no failure.
    fails: ({ added, updated, unchanged, deleted, errors }) =>
      errors.length > 0 && added + updated + unchanged + deleted === 0,
    print: addText,
    onStop: 'what is in the store stays, and the next `querent add` of the same paths continues',
  }),
  command<SyncReport>({
    name: 'sync [paths...]',
    opensAll: true,
    examples: [
      'querent sync  # all added paths',
      'querent sync --dry-run  # only say what has changed',
      'querent sync --forget old-notes  # stop tracking a folder and delete its entries',
    ],
    flags: { forget: { name: 'forget', help: 'stop tracking this path and delete its entries' } },
    input: ({ paths, forget, ...input }, _flags, { io }) => ({
      ...input,
      ...absolutePaths('paths', paths, io.workingFolder),
      ...absolutePaths('forget', forget, io.workingFolder),
    }),
    fails: ({ added, updated, unchanged, deleted, errors }) =>
      errors.length > 0 && added + updated + unchanged + deleted === 0,
    print: syncText,
  }),
  command<Examination>({
    name: 'doctor',
    opensAll: true,
    examples: ['querent doctor --repair  # repair what can be rebuilt'],
    call: async (input, context) => (await import('./commands/care.ts')).examined(input, context),
    print: doctorText,
    fails: ({ ok }) => !ok,
  }),
  command<Backup>({
    name: 'backup <file>',
    opensAll: true,
    examples: ['querent backup /mnt/usb/notes.db --overwrite  # replace the previous one'],
    arguments: ['to'],
    options: { '--skip-damaged': 'copy what can be read of a damaged store, and report what was lost' },
    input: ({ to, ...input }, _flags, { io }) => ({ ...input, to: resolve(io.workingFolder, String(to)) }),
    call: async (input, context) => (await import('./commands/care.ts')).backedUp(input, context),
    print: backupText,
  }),
  command<ModelList>({
    name: 'model',
    operation: 'models',
    covers: ['check_model', 'use_model'],
    examples: ['querent model check models/e5  # try it', 'querent model use models/e5  # use it from now on'],
    opensAll: true,
    print: modelsText,
    children: [
      command<ModelList>({ name: 'list', operation: 'models', about: 'the same', opensAll: true, print: modelsText }),
      command<ModelCheck>({
        name: 'check <folder>',
        operation: 'check_model',
        about: 'try a model: dimensions, size, self-test, speed',
        input: modelFolderOf,
        print: modelCheckText,
        fails: ({ ok }) => !ok,
      }),
      command<UsedModel>({
        name: 'use <folder>',
        operation: 'use_model',
        about: 'use a model from now on; until it has embedded everything, the previous model answers',
        examples: [
          'querent model use multilingual  # beside the built-in one, for other languages',
          'querent model use models/e5 --for all  # in place of the built-in one',
          'querent model use built-in',
        ],
        opensAll: true,
        input: (input, flags, cli) => ({ wait: true, ...modelFolderOf(input, flags, cli) }),
        print: usedModelText,
        onStop: 'what is embedded stays; `querent serve` or the same command continues',
      }),
    ],
  }),
  command<{ readonly text: string }>({ name: 'brief', print: ({ text }) => text }),
  command<{ readonly refused: readonly object[]; readonly put: number; readonly unchanged: number }>({
    name: 'mirror <collection>',
    examples: [
      'querent mirror items --to chromadb --url http://localhost:8000  # records that exist there are not sent again',
      'querent mirror items --to qdrant --url http://localhost:6333  # its key: QUERENT_QDRANT_API_KEY',
    ],
    flags: { token: null, url: { help: 'address of the server (default: QUERENT_CHROMA_URL or QUERENT_QDRANT_URL)' } },
    input: mirrorOf,
    print: all(
      each('', '{put} put, {removed} removed, {unchanged} unchanged, {waiting} waiting for a vector'),
      each('names', 'in {}'),
    ),
    aside: all(
      each('refused', 'querent: {id}: the server refuses it: {reason}'),
      each('unowned', `querent: {}: ${UNOWNED}`),
    ),
    // The command `mirror` fails only if the other server refused every record: a few refused records among good ones are no failure.
    fails: ({ refused, put, unchanged }) => refused.length > 0 && put + unchanged === 0,
  }),
]
