/** `querent collections`, what it ships for assistants, and how its collections get to other engines. */
import { type Command, Option } from 'commander'
import { define, flagsOf, runs } from './define.ts'
import { type CommonFlags, withFormat, withPlace } from './flags.ts'
import type { Cli } from './run.ts'

export function defineCollectionsCommands(program: Command, cli: Cli): void {
  defineCollections(program, cli)
  defineSkills(program, cli)
  defineMirror(program, cli)
}

type Flags = Parameters<typeof import('./commands/collections.ts').runCollectionsCommand>[2]

/** Values are checked with the question, which names what is wrong in the words of its own contract. */
function defineCollections(program: Command, cli: Cli): void {
  const collections = define(
    program,
    'collections [query...]',
    'ask one question over several collections, by meaning',
    [
      ['querent collections "servidores MCP" --days 7', 'items and analysis, the last week'],
      ['querent collections "MCP servers" --collection analysis --lang en', 'one collection, in English'],
      ['querent collections "MCP servers" --url http://localhost:8000', 'a ChromaDB server'],
    ],
  )
    .option('--days <number>', 'only the last so many days')
    .option('--collection <name>', 'items, analysis, both, or one that the configuration declares (default: both)')
    .option('--n-results <number>', 'most results of each collection (default: 5)')
    .option(
      '--lang <language>',
      'of the answer: auto (en for a question in English, else es), es or en (default: auto)',
    )
    .option('--json', 'print the whole outcome as one JSON document')
    .option('--undated <policy>', 'records without a date under a day filter: include or exclude (default: include)')
    .option('--persist-directory <folder>', 'the store to ask (default: QUERENT_HOME, else .querent here or above)')
    .option('--sample', 'ask the sample that comes with Querent')
    .option(
      '--url <address>',
      'ask a ChromaDB server instead (default: QUERENT_CHROMA_URL; its token: QUERENT_CHROMA_TOKEN)',
    )
    .option('--tenant <name>', 'of the server (default: QUERENT_CHROMA_TENANT)')
    .option('--database <name>', 'of the server (default: QUERENT_CHROMA_DATABASE)')
    .option('--since <date>', 'from this ISO date on')
    .option('--until <date>', 'up to this ISO date; a whole day is included')
    .option('--source <type>', 'only records with this source_type')
    .option('--actionability <level>', 'only records with this actionability')
    .option('--min-score <number>', 'drop what scores less')
    .option('--fold', 'show an item and its analysis as one result')
    .option('--hybrid', 'fuse the order by meaning with an order by words')
    .option('--urls', 'show the address of each source')
    .option('--offset <number>', 'leave out so many results of the sorted answer (default: 0)')
    .option('--limit <number>', 'show so many results at most, of all collections')
    .option('--viewer <name>', 'act as this agent (the local owner may)')
    .option('--now <time>', 'the moment that counts as now (default: QUERENT_NOW, else the clock)')
  collections.action(async (words: readonly string[]) => {
    const { runCollectionsCommand } = await import('./commands/collections.ts')
    await runCollectionsCommand(cli, words, flagsOf<Flags>(collections))
  })
}

function defineSkills(program: Command, cli: Cli): void {
  const skills = program.command('skills').description('files that teach assistants to use this command')
  const install = define(skills, 'install', 'place the skill chroma-query and the agent chroma-agent in a project', [
    ['querent skills install', 'in .claude here'],
    ['querent skills install --dir ../project --lang en', 'in another project, in English'],
    ['querent skills install --lens c64', 'the command query-c64'],
  ])
    .option('--dir <folder>', "the project's folder", '.')
    .addOption(new Option('--lens <name>', 'that they ask').choices(['collections', 'c64']).default('collections'))
    .addOption(new Option('--lang <language>', 'of the files').choices(['es', 'en']).default('es'))
    .option('--force', 'overwrite what somebody has changed')
  withFormat(install)
  runs<[], Parameters<typeof import('./commands/skills.ts').runInstall>[1]>(install, cli, async flags => {
    await (await import('./commands/skills.ts')).runInstall(cli, flags)
  })
}

function defineMirror(program: Command, cli: Cli): void {
  const mirror = define(program, 'mirror <collection>', 'push a collection to ChromaDB or Qdrant; again to follow it', [
    ['querent mirror items --to chromadb --url http://localhost:8000', 'what is there already is left alone'],
    ['querent mirror items --to qdrant --url http://localhost:6333', 'its key: QUERENT_QDRANT_API_KEY'],
  ])
  withFormat(withPlace(mirror))
    .addOption(new Option('--to <engine>', 'where to').choices(['chromadb', 'qdrant']).makeOptionMandatory())
    .option('--url <address>', 'of the server (default: QUERENT_CHROMA_URL or QUERENT_QDRANT_URL)')
    .option('--tenant <name>', 'of a ChromaDB server (default: QUERENT_CHROMA_TENANT)')
    .option('--database <name>', 'of a ChromaDB server (default: QUERENT_CHROMA_DATABASE)')
  runs<[string], CommonFlags & Parameters<typeof import('./commands/mirror.ts').runMirror>[2]>(
    mirror,
    cli,
    async (collection, flags) => {
      await (await import('./commands/mirror.ts')).runMirror(cli, collection, flags)
    },
  )
}
