/** Commands that fill, read and empty the store. */
import { type Command, Option } from 'commander'
import { define, runs } from './define.ts'
import { type CommonFlags, collect, withFormat, withPlace } from './flags.ts'
import type { Cli } from './run.ts'

const VISIBILITIES = ['private', 'public', 'shared']

export function defineStoreCommands(program: Command, cli: Cli): void {
  defineFilling(program, cli)
  defineTransfer(program, cli)
}

function defineFilling(program: Command, cli: Cli): void {
  const init = define(program, 'init', 'make a store in this folder', [
    ['querent init', 'in .querent here'],
    ['querent init --home ~/.querent', 'in a folder of your choice'],
  ])
  runs<[], CommonFlags>(withFormat(withPlace(init)), cli, async flags => {
    await (await import('./commands/ingest.ts')).runInit(cli, flags)
  })

  const add = define(program, 'add <paths...>', 'add files and folders, or what changed in them since', [
    ['querent add .', 'everything here that .gitignore lets through'],
    ['querent add notes --collection notes --tag draft', 'into a collection, with a tag'],
    ['querent add talk.jsonl --map content=text --map title=topic', 'JSON lines with other field names'],
    ['querent add --chat conversations.json', 'an export of conversations: each message is an entry'],
  ])
  withFormat(withPlace(add))
    .option('--collection <name>', 'the collection to add to')
    .option('--kind <name>', 'what sort of thing these are')
    .option('--tag <name>', 'a tag for each entry (repeatable)', collect)
    .addOption(new Option('--visibility <who>', 'who may see them').choices(VISIBILITIES))
    .option('--federation <id>', 'with --visibility shared: whom with (repeatable)', collect)
    .option('--map <ours=theirs>', 'JSON lines: the name a field has there (repeatable)', collect)
    .option('--lens <name>', 'read files as this lens does, into its collection')
    .option('--chat', 'they are exports of conversations (JSON lines, ChatGPT, Claude, Slack, WhatsApp, mail)')
    .addOption(new Option('--profile <whom>', 'with --chat: of whom they are').choices(['people', 'assistant']))
    .addOption(
      new Option('--chat-format <name>', 'with --chat, where it cannot be told').choices([
        ...['jsonl', 'chatgpt', 'claude', 'slack', 'whatsapp', 'mail'],
      ]),
    )
    .option('--zone <zone>', 'with --chat: of times without one, such as Europe/Madrid (default: UTC)')
    .option('--conversation <name>', 'with --chat: its name, where the file does not say')
    .addOption(new Option('--date-order <order>', 'with --chat, of WhatsApp').choices(['day-first', 'month-first']))
    .option('--no-wait', 'do not wait for vectors; words answer at once')
    .option('--code', 'read code as concepts and links: see `querent context`')
  runs<[readonly string[]], Parameters<typeof import('./commands/ingest.ts').runAdd>[2]>(
    add,
    cli,
    async (paths, flags) => {
      if (flags.code === true) await (await import('./commands/context.ts')).runAddCode(cli, paths, flags)
      else await (await import('./commands/ingest.ts')).runAdd(cli, paths, flags)
    },
  )
}

function defineTransfer(program: Command, cli: Cli): void {
  const exported = define(program, 'export [file]', 'print everything the store holds, one JSON line each', [
    ['querent export backup.jsonl', 'into a file'],
    ['querent export | gzip > backup.gz', 'into a pipe'],
    [
      'querent export --skip-damaged saved.jsonl',
      'what can be read of a damaged store; exit code 1 if that is not all',
    ],
  ])
  withPlace(exported).option('--skip-damaged', 'go on where the store is damaged, and tell what was lost')
  runs<[string | undefined], Parameters<typeof import('./commands/ingest.ts').runExport>[2]>(
    exported,
    cli,
    async (file, flags) => {
      await (await import('./commands/ingest.ts')).runExport(cli, file, flags)
    },
  )

  const imported = define(program, 'import [file]', 'take the lines of an export', [
    ['querent import backup.jsonl', 'from a file'],
    ['gunzip < backup.gz | querent import', 'from a pipe'],
  ])
  runs<[string | undefined], CommonFlags>(withFormat(withPlace(imported)), cli, async (file, flags) => {
    await (await import('./commands/ingest.ts')).runImport(cli, file, flags)
  })
}
