/** Commands that are no operation: their bodies are loaded when one of them runs. */
import { type Command, Option } from 'commander'
import { collect, finiteNumber, withStream } from './flags.ts'
import type { OperationCommand } from './operation-command.ts'
import type { Cli } from './run.ts'

/** A command whose body gets what it was given; the body says which flags it reads. */
function plain<Body>(
  load: () => Promise<Body>,
  run: (body: Body, cli: Cli, flags: never, made: Command, first: never, second: never) => Promise<void>,
  entry: Omit<OperationCommand, 'run' | 'operation'>,
): OperationCommand {
  return {
    ...entry,
    operation: null,
    run: async (_input, flags, cli, [first, second], made) =>
      run(await load(), cli, flags as never, made, first as never, second as never),
  }
}

const files = () => import('./commands/transfer.ts')
const serving = () => import('./commands/serve.ts')
const installing = () => import('./commands/mcp-install.ts')

export const STORE_COMMANDS: readonly OperationCommand[] = [
  plain(files, (body, cli, flags, _made, file) => body.runExport(cli, file, flags), {
    name: 'export [file]',
    about: 'print everything the store holds, one JSON line each',
    examples: [
      'querent export backup.jsonl  # into a file',
      'querent export | gzip > backup.gz  # into a pipe',
      'querent export --skip-damaged saved.jsonl  # what can be read of a damaged store; exit code 1 if that is not all',
    ],
    isFormless: true,
    more: made => made.option('--skip-damaged', 'go on where the store is damaged, and report what was lost'),
  }),
  plain(files, (body, cli, flags, _made, file) => body.runImport(cli, file, flags), {
    name: 'import [file]',
    about: 'take the lines of an export',
    examples: ['querent import backup.jsonl  # from a file', 'gunzip < backup.gz | querent import  # from a pipe'],
  }),
  plain(
    () => import('./commands/mirror.ts'),
    (body, cli, flags, _made, collection) => body.runMirror(cli, collection, flags),
    {
      name: 'mirror <collection>',
      about: 'push a collection to ChromaDB or Qdrant; again to follow it',
      examples: [
        'querent mirror items --to chromadb --url http://localhost:8000  # what is there already is left alone',
        'querent mirror items --to qdrant --url http://localhost:6333  # its key: QUERENT_QDRANT_API_KEY',
      ],
      more: made =>
        made
          .addOption(new Option('--to <engine>', 'where to').choices(['chromadb', 'qdrant']).makeOptionMandatory())
          .option('--url <address>', 'of the server (default: QUERENT_CHROMA_URL or QUERENT_QDRANT_URL)')
          .option('--tenant <name>', 'of a ChromaDB server (default: QUERENT_CHROMA_TENANT)')
          .option('--database <name>', 'of a ChromaDB server (default: QUERENT_CHROMA_DATABASE)'),
    },
  ),
  plain(
    () => import('./commands/bench.ts'),
    (body, cli, flags) => body.runBench(cli, flags),
    {
      name: 'bench',
      about: 'measure this store: time a question, recall of the vector index',
      examples: ['querent bench --queries 200  # with two hundred questions'],
      more: made => made.option('--queries <number>', 'how many questions to ask', finiteNumber, 50),
    },
  ),
]

/** With the contracts of their seeds: own flags, own exit codes. */
export const SEED_COMMANDS: readonly OperationCommand[] = [
  plain(
    () => import('./commands/collections.ts'),
    (body, cli, flags, _made, words) => body.runCollectionsCommand(cli, words, flags),
    {
      name: 'collections [query...]',
      about: 'ask one question over several collections, by meaning',
      examples: [
        'querent collections "servidores MCP" --days 7  # items and analysis, the last week',
        'querent collections "MCP servers" --collection analysis --lang en  # one collection, in English',
        'querent collections "MCP servers" --url http://localhost:8000  # a ChromaDB server',
      ],
      isPlaceless: true,
      isFormless: true,
      more: withCollections,
    },
  ),
  plain(
    () => import('./commands/c64.ts'),
    (body, cli, flags, made, words) => body.runC64(cli, words, flags, made),
    {
      name: 'c64 [words...]',
      about: 'ask about the Commodore 64; numbers and names are understood',
      examples: [
        'querent c64 "What does POKE 53280, 14 do?"  # facts as Markdown, the best 15',
        'querent c64 --enrich-only SYS 64738  # what the numbers and names stand for',
        'querent c64 --limit 3 --json how do I move a sprite  # for programs',
      ],
      isFormless: true,
      hasOneExitCode: true,
      more: withC64,
    },
  ),
]

/** Values are checked with the question, which names what is wrong in the words of its own contract. */
function withCollections(made: Command): Command {
  return made
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
    .option('--url <address>', 'ask a ChromaDB server (default: QUERENT_CHROMA_URL; its token: QUERENT_CHROMA_TOKEN)')
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
}

function withC64(made: Command): Command {
  return (
    made
      // A question may begin with a hyphen; what is no flag is reported by the command itself, with its own exit code.
      .allowUnknownOption()
      .option('--limit <number>', 'how many results at most (default 15)')
      .option('--raw', 'search the question as it is, by meaning')
      .option('--enrich-only', 'print the enriched question, its tags and the mode, and search nothing')
      .option('--json', 'print the whole result as one JSON document')
      .option('--embed', 'first give the facts of this store their vectors, once')
      .option('--fetch-limit <number>', 'how many each search fetches (default 20)')
      .option('--min-score-ratio <number>', 'leave out what scores less than this share of the best (default 0.6)')
      .option('--fusion <how>', 'how two searches become one list: tags-first or rrf')
      .option('--expand-addresses', 'an address also asks for the name of its register or routine')
      .option('--backend <name>', 'embedded (default) or qdrant')
      .option('--qdrant-url <url>', 'default http://localhost:6333')
      .option('--qdrant-collection <name>', 'default c64_training')
      .option('--embedding-model <name>', 'for qdrant; default text-embedding-3-large')
  )
}

function withChange(command: Command): Command {
  return command
    .option('--client <name>', 'only this client (repeatable); a wrong name lists those there are', collect)
    .option('--print', 'show what would change, and write nothing')
    .option('--yes', 'write without asking')
}

export const SERVER_COMMANDS: readonly OperationCommand[] = [
  plain(serving, (body, cli, flags, _made, paths) => body.runServe(cli, paths, flags), {
    name: 'serve [paths...]',
    about: 'add files and folders, then answer over HTTP',
    examples: [
      'querent serve notes --open  # a folder, in the browser',
      'querent serve  # the local owner, from this machine only',
      'querent serve --host 0.0.0.0 --tokens tokens.json  # one bearer token a viewer: {"<token>": "<viewer>"}',
      'querent serve --socket ~/querent.sock  # on a machine that others use too: for this user alone',
      'querent serve --workers 4 --log text  # four processes on one port, a line for each request',
    ],
    isFormless: true,
    more: withServer,
  }),
  plain(serving, (body, cli, flags) => body.runMcp(cli, flags), {
    name: 'mcp',
    about: 'serve an agent over MCP on standard input and output',
    examples: [
      'querent mcp --viewer ana  # as the agent ana',
      'querent mcp --lens chroma --lens beliefs  # with the tools of these lenses',
      'querent mcp --tools query,get,context_callers  # with these tools alone',
      'querent mcp --lens chroma --list-tools  # which those are, and what they cost an agent to read',
    ],
    more: made =>
      made
        .option('--lens <name>', 'offer the tools of this lens (repeatable)', collect)
        .option('--tools <names>', 'offer these tools, with commas between (repeatable)', collect)
        .addOption(
          new Option('--detail <form>', 'form of answers where a call does not say')
            .choices(['concise', 'detailed'])
            .default('detailed'),
        )
        .option('--list-tools', 'print the tools with the tokens of each, and serve nothing'),
    children: [
      plain(installing, (body, cli, flags) => body.runMcpInstall(cli, flags), {
        name: 'install',
        about: 'write the server into the configuration of assistants, after asking',
        examples: [
          'querent mcp install  # every client that is found',
          'querent mcp install --client claude-code --yes  # the project here, without asking',
          'querent mcp install --client cursor --lens context --print  # only show what would change',
        ],
        isPlaceless: true,
        more: made =>
          withChange(made)
            .option('--lens <name>', 'serve the tools of this lens (repeatable)', collect)
            .option('--tools <names>', 'serve these tools, with commas between (repeatable)', collect)
            .option('--npx', 'start the installed package with `npx --no-install` instead of this program')
            .option('--home <folder>', 'the store to serve (default: QUERENT_HOME, else .querent here or above)')
            .option('--viewer <name>', 'serve as this agent'),
      }),
      plain(installing, (body, cli, flags) => body.runMcpInstall(cli, flags, true), {
        name: 'uninstall',
        about: 'take the server out of the configuration of assistants',
        examples: ['querent mcp uninstall --yes  # wherever it is found, without asking'],
        isPlaceless: true,
        more: withChange,
      }),
    ],
  }),
  plain(
    () => import('./commands/call.ts'),
    (body, cli, flags, made, name, input) => body.runCall(cli, [name, input], flags, made),
    {
      name: 'call [operation] [input]',
      about: 'run any operation by name: JSON in, JSON out',
      examples: [
        'querent call status  # no input',
        'querent call query \'{"text": "decay"}\'  # input as JSON',
        'querent call put @entries.json  # input from a file',
        'querent call export --stream  # piece by piece, a line each, where it has such a form',
        'echo \'{"text": "decay"}\' | querent call query  # input from a pipe (or `-`)',
      ],
      isFormless: true,
      more: made => withStream(made).helpOption(false).option('-h, --help', 'show this help, with every operation'),
    },
  ),
  plain(
    () => import('./commands/brief.ts'),
    (body, cli, flags) => body.runBrief(cli, flags),
    {
      name: 'brief',
      about: 'say in few words what is here and how to ask, for an assistant',
      examples: [
        'querent brief  # fewer than 500 tokens',
        'querent brief --viewer ana  # what the agent ana may see of it',
      ],
    },
  ),
  plain(
    () => import('./commands/completion.ts'),
    (body, cli, _flags, made, shell) => body.runCompletion(cli, shell, made.parent as Command),
    {
      name: 'completion <shell>',
      about: 'print a script for bash, zsh or fish that completes commands and flags',
      examples: ['eval "$(querent completion bash)"  # in this shell; in ~/.bashrc in every one'],
      isPlaceless: true,
      isFormless: true,
      more: made => {
        made.registeredArguments[0]?.choices(['bash', 'zsh', 'fish'])
        return made
      },
    },
  ),
]

function withServer(made: Command): Command {
  const socket = new Option(
    '--socket <path>',
    'listen on this Unix socket, which only this user can open, and on no port',
  )
  const log = new Option('--log [form]', 'note requests on standard error, a line each; alone: json')
  return made
    .option('--open', 'open the page in the default browser')
    .option('--collection <name>', 'the collection to add the paths to')
    .option('--port <number>', 'port; 0 takes a free one', finiteNumber, 7411)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .addOption(socket.conflicts(['port', 'host', 'open', 'workers']))
    .option('--tokens <file>', 'JSON file mapping bearer tokens to viewers; implies --require-token')
    .option(
      '--require-token',
      'answer nobody as the owner without a token: behind a proxy, or where others use the machine',
    )
    .option('--allow-host <name>', 'also answer requests for this host name (repeatable)', collect)
    .option('--cors <origin>', 'also answer pages of this site, such as https://notes.example (repeatable)', collect)
    .option(
      '--workers <number>',
      'processes on the one port and store; each keeps its share of all limits',
      finiteNumber,
      1,
    )
    .option('--request-timeout <seconds>', 'refuse what is not answered after so long', finiteNumber)
    .option('--max-body <bytes>', 'refuse longer bodies of requests (default 4194304)', finiteNumber)
    .option('--receive-timeout <seconds>', RECEIVE, finiteNumber)
    .option('--max-connections <number>', 'of each process; further ones are closed (default 4000)', finiteNumber)
    .option('--grace <seconds>', 'how long requests under way may go on at the end (default 3)', finiteNumber)
    .addOption(log.choices(['json', 'text', 'off']).preset('json'))
    .option(
      '--log-queries <days>',
      'log questions of the lens beliefs with their texts, kept so many days',
      finiteNumber,
    )
}

const RECEIVE = 'to send a request, a sixth for its head, or to take what is sent (default 60)'

const settings = () => import('./commands/config.ts')

export const CONFIG: readonly OperationCommand[] = [
  plain(settings, (body, cli, flags, _made, name) => body.getSetting(cli, flags, name), {
    name: 'get <name>',
    about: 'print one setting',
    examples: ['querent config get live.poll_ms  # as config.json says, else its default'],
  }),
  plain(settings, (body, cli, flags, _made, name, value) => body.setSetting(cli, flags, name, value), {
    name: 'set <name> <value>',
    about: 'change one setting; what an engine would refuse is not written',
    examples: [
      'querent config set durability full  # a text',
      `querent config set embedder '{"provider": "none"}'  # JSON`,
    ],
  }),
  plain(settings, (body, cli, flags, _made, name) => body.setSetting(cli, flags, name), {
    name: 'unset <name>',
    about: 'take one setting out, so that its default holds',
    examples: ['querent config unset durability  # normal again'],
  }),
  plain(settings, (body, cli, flags) => body.listSettings(cli, flags), {
    name: 'list',
    about: 'list all settings, with what config.json says and the defaults',
    examples: ['querent config list --json  # for programs'],
  }),
]

export const SKILLS: readonly OperationCommand[] = [
  plain(
    () => import('./commands/skills.ts'),
    (body, cli, flags) => body.runInstall(cli, flags),
    {
      name: 'install',
      about: 'place the skill chroma-query and the agent chroma-agent in a project',
      examples: [
        'querent skills install  # in .claude here',
        'querent skills install --dir ../project --lang en  # in another project, in English',
        'querent skills install --lens c64  # the command query-c64',
      ],
      isPlaceless: true,
      more: made =>
        made
          .option('--dir <folder>', "the project's folder", '.')
          .addOption(
            new Option('--lens <name>', 'that they ask').choices(['collections', 'c64']).default('collections'),
          )
          .addOption(new Option('--lang <language>', 'of the files').choices(['es', 'en']).default('es'))
          .option('--force', 'overwrite what somebody has changed'),
    },
  ),
]
