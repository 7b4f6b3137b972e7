/** `querent c64 "…"`: questions about the Commodore 64. Its flags and exit codes are its contract's own (EN-071 to EN-074). */
import type { Command } from 'commander'
import type { C64Flags } from './commands/c64.ts'
import { define, runs, withOneExitCode } from './define.ts'
import { withPlace } from './flags.ts'
import { type Cli, tellAside } from './run.ts'

export function defineC64Command(program: Command, cli: Cli): void {
  const command = define(program, 'c64 [words...]', 'ask about the Commodore 64; numbers and names are understood', [
    ['querent c64 "What does POKE 53280, 14 do?"', 'facts as Markdown, the best 15'],
    ['querent c64 --enrich-only SYS 64738', 'what the numbers and names stand for'],
    ['querent c64 --limit 3 --json how do I move a sprite', 'for programs'],
  ])
  withOneExitCode(withPlace(command), cli)
    // A question may begin with a hyphen; what is no flag is told by the command itself, with its own exit code.
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
  runs<[readonly string[]], C64Flags>(command, cli, async (words, flags) => {
    tellAside(cli)
    const known = command.options.flatMap(option => option.long ?? [])
    await (await import('./commands/c64.ts')).runC64(cli, words, flags, { known, usage: command.helpInformation() })
  })
}
