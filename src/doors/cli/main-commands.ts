/** Commands of the engine itself, and of conversations, that call one operation. */
import { type Command, Option } from 'commander'
import type { JsonObject } from '../../base/canonical.ts'
import type { EntryView, ExplainAnswer, ListPage, Status } from '../../engine/engine.ts'
import type { Page } from '../../model/page.ts'
import { type Forms, PLAIN } from './commands/print.ts'
import { withLive } from './flags.ts'
import { type FlagNames, liveFlags } from './generated-flags.ts'
import { command, type Flags, type OperationCommand } from './operation-command.ts'
import type { PageAsked } from './render/page.ts'
import type { Recalled } from './render/recall.ts'
import type { Column } from './render/table.ts'
import type { Cli } from './run.ts'

/** Longer than the default of an engine that stays open: a command loads the model first, seconds on a busy machine. */
const QUERY_TIMEOUT_MS = 30_000

const TIMEOUT = { help: 'Time that the query may take (default: 30)' }
/** Of the streamed form over other interfaces. */
const QUERY_FLAGS: FlagNames = { timeout_ms: TIMEOUT, chunk_size: null }

/** `explain` asks for one entry, whatever the page would hold. */
const EXPLAIN_FLAGS: FlagNames = {
  'query.timeout_ms': TIMEOUT,
  ...Object.fromEntries(
    ['limit', 'cursor', 'touch', 'explain', 'trace', 'passages', 'excerpt_length', 'chunk_size'].map(name => [
      `query.${name}`,
      null,
    ]),
  ),
}

interface LensLine {
  readonly name: string
  readonly summary: string
}

function withWords(made: Command): Command {
  return made.addOption(new Option('--words', 'the same as --mode words').conflicts('mode'))
}

function withFailEmpty(made: Command): Command {
  return withWords(made).option('--fail-empty', 'end with exit code 3 when nothing is relevant')
}

function queryOf(input: JsonObject, { words }: Flags): JsonObject {
  return { timeout_ms: QUERY_TIMEOUT_MS, ...input, ...(words === true && { mode: 'words' }) }
}

async function pageForms(page: Page, { io }: Cli, asked: PageAsked): Promise<Forms> {
  const { pageMarkdown, pageText } = await import('./render/page.ts')
  return {
    table: style => pageText(page, style, io.workingFolder, asked),
    md: () => pageMarkdown(page, io.workingFolder, asked),
  }
}

export const MAIN_COMMANDS: readonly OperationCommand[] = [
  command<Page>({
    name: 'query <words...>',
    operation: 'query',
    about: 'ask a question; `-` reads it from standard input',
    examples: [
      ['querent query how does decay work', 'the best ten passages, with reasons'],
      ['querent query \'"flat scan" -kernel tag:index\'', 'a phrase, without a word, with a tag'],
      ['querent query --words --limit 3 parseInput', 'by words alone'],
      ['querent query --passages 3 how does decay work', 'three passages of each, with section and lines'],
      ['querent query --group passage how does decay work', 'the ten best passages, whichever documents they are of'],
      ['querent query --json colour models | jq .items[0]', 'for programs'],
      ['querent query --stream colour models | jq .title', 'the same as it comes'],
    ],
    arguments: ['text'],
    flags: QUERY_FLAGS,
    more: withFailEmpty,
    input: queryOf,
    embeds: true,
    stream: {
      list: 'items',
      // The cast: all that a page has but its items.
      end: async (rest, _count, { any }) =>
        (await import('./render/page.ts')).footer(rest as unknown as Page, PLAIN, { any: any === true }),
    },
    print: (page, cli, { any, passages }) =>
      pageForms(page, cli, { any: any === true, passages: passages as number | undefined }),
  }),
  command<Recalled>({
    name: 'recall <words...>',
    operation: 'conversations.query',
    about: 'ask what was said; `-` reads the question from standard input',
    examples: [
      ['querent recall when did Mira move the kiln', 'the best ten messages of all conversations'],
      ['querent recall --conversation home --speaker Mira where is the kiln', 'what she said there'],
      ['querent recall --max-tokens 2000 --json what do we know of the kiln', 'for a prompt, in the order of time'],
    ],
    arguments: ['text'],
    flags: QUERY_FLAGS,
    more: withFailEmpty,
    input: queryOf,
    embeds: true,
    print: async answer => {
      const { recallText } = await import('./render/recall.ts')
      return { table: style => recallText(answer, style) }
    },
  }),
  command({
    name: 'watch <words...>',
    operation: 'watch',
    about: 'show what changes in the answer to a question, until Ctrl-C',
    examples: [
      ['querent watch how does decay work', 'a line for each entry that comes, changes or goes'],
      ['querent watch --no-initial --json tag:incident | jq .id', 'events as JSON lines, from now on'],
      ['querent watch --lens chroma "colour models"', 'asked through another lens'],
    ],
    arguments: ['text'],
    flags: { ...QUERY_FLAGS, ...liveFlags('') },
    more: made => withLive(withWords(made)),
    input: queryOf,
    run: async (input, flags, cli) => (await import('./commands/watch.ts')).watchOperation(cli, flags, 'watch', input),
  }),
  command<ExplainAnswer>({
    name: 'explain <id> <words...>',
    operation: 'explain',
    about: 'show why an entry has its rank in an answer, or why it has none',
    examples: [
      ['querent explain docs/decay.md how does decay work', 'why it is there, or what dropped it'],
      ['querent explain a --over b how does decay work', 'why a is ranked above b, and what would swap them'],
    ],
    arguments: ['id', 'query.text'],
    flags: EXPLAIN_FLAGS,
    more: withWords,
    input: ({ query, ...input }, flags) => ({ ...input, query: queryOf(query as JsonObject, flags) }),
    embeds: true,
    print: async answer => {
      const { explainText } = await import('./render/reports.ts')
      return { table: style => explainText(answer, style) }
    },
  }),
  command<Page>({
    name: 'similar <id>',
    operation: 'similar',
    about: 'find entries like this one',
    examples: [['querent similar docs/decay.md --limit 5', 'its five nearest']],
    arguments: ['id'],
    print: (page, cli) => pageForms(page, cli, { any: true }),
  }),
  command<{ readonly id: string }>({
    name: 'remember <text>',
    operation: 'conversations.remember',
    about: 'remember one message or note; the next query finds it. `-` reads it from standard input',
    examples: [
      ['querent remember "Tea goes into the blue tin."', 'in the conversation notes'],
      ['querent remember "I moved to Lugo." --speaker Mira --conversation home --at 2025-03-14', 'who, where and when'],
    ],
    arguments: ['text'],
    creates: true,
    print: async ({ id }) => {
      const { oneLine } = await import('./render/style.ts')
      return { table: () => `${oneLine(id)}\n` }
    },
  }),
  command<EntryView>({
    name: 'get <id>',
    operation: 'get',
    about: 'show one entry',
    examples: [['querent get docs/decay.md', 'its facts and its content']],
    arguments: ['id'],
    print: async (entry, { io }) => {
      const { entryMarkdown, entryText } = await import('./render/entry.ts')
      return {
        table: style => entryText(entry, style, io.workingFolder),
        md: () => entryMarkdown(entry, io.workingFolder),
      }
    },
  }),
  command<ListPage>({
    name: 'list',
    operation: 'list',
    about: 'list entries',
    examples: [
      ['querent list --collection notes --limit 20', 'the first twenty notes'],
      ['querent list --json --cursor …', 'the next page, for programs'],
    ],
    print: async (page, { io }) => {
      const { listMarkdown, listText } = await import('./render/entry.ts')
      return { table: style => listText(page, style, io.stdout.columns), md: () => listMarkdown(page) }
    },
  }),
  command<{ readonly deleted: number }>({
    name: 'delete <ids...>',
    operation: 'delete',
    about: 'delete entries by id',
    examples: [['querent delete a b', 'two entries']],
    arguments: ['ids'],
    print: ({ deleted }) => ({ table: () => `${deleted} deleted\n` }),
  }),
  command<Status>({
    name: 'status',
    operation: 'status',
    about: 'show what the store holds',
    examples: [['querent status', 'entries, vectors, indexes']],
    print: async answer => {
      const { statusText } = await import('./render/reports.ts')
      return { table: () => statusText(answer) }
    },
  }),
  command<{ readonly lenses: readonly LensLine[] }>({
    name: 'lenses',
    operation: 'lenses',
    about: 'list the lenses',
    examples: [['querent lenses', 'names for --lens']],
    print: async ({ lenses }) => {
      const { markdownTable, textTable } = await import('./render/table.ts')
      const columns: readonly Column<LensLine>[] = [
        { title: 'LENS', cell: lens => lens.name },
        { title: 'SUMMARY', cell: lens => lens.summary },
      ]
      return { table: style => textTable(columns, lenses, style), md: () => markdownTable(columns, lenses) }
    },
  }),
]
