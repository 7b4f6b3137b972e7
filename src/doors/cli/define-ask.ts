/** Commands that ask. */
import type { Command } from 'commander'
import type { ExplainFlags, SimilarFlags } from './commands/ask.ts'
import type { RecallFlags } from './commands/recall.ts'
import type { LiveFlags } from './commands/watch.ts'
import { define, runs } from './define.ts'
import {
  type AskFlags,
  collect,
  finiteNumber,
  groupOption,
  TIMEOUT,
  withFormat,
  withLive,
  withMoments,
  withPaging,
  withPlace,
  withQuestion,
  withStream,
  withSyntax,
  withTouch,
  wordsOf,
} from './flags.ts'
import type { Cli } from './run.ts'

export function defineAskCommands(program: Command, cli: Cli): void {
  const query = define(program, 'query <words...>', 'ask a question; `-` reads it from standard input', [
    ['querent query how does decay work', 'the best ten passages, with reasons'],
    ['querent query \'"flat scan" -kernel tag:index\'', 'a phrase, without a word, with a tag'],
    ['querent query --words --limit 3 parseInput', 'by words alone'],
    ['querent query --passages 3 how does decay work', 'three passages of each, with section and lines'],
    ['querent query --group passage how does decay work', 'the ten best passages, whichever documents they are of'],
    ['querent query --json colour models | jq .items[0]', 'for programs'],
    ['querent query --stream colour models | jq .title', 'the same as it comes'],
  ])
  withStream(withFormat(withPlace(withPaging(withMoments(withTouch(withQuestion(query)))))))
    .option('--passages <number>', 'the best so many passages of each result, 1 to 10', finiteNumber)
    .option('--explain', 'show how each score was made')
    .option('--fail-empty', 'end with exit code 3 when nothing is relevant')
  runs<[readonly string[]], AskFlags>(query, cli, async (words, flags) => {
    await (await import('./commands/ask.ts')).runQuery(cli, wordsOf(query, words), flags)
  })

  defineRecall(program, cli)

  const watch = define(program, 'watch <words...>', 'tell what changes in the answer to a question, until Ctrl-C', [
    ['querent watch how does decay work', 'a line for each entry that comes, changes or goes'],
    ['querent watch --no-initial --json tag:incident | jq .id', 'events as JSON lines, from now on'],
    ['querent watch --lens chroma "colour models"', 'asked through another lens'],
  ])
  withLive(withPlace(withQuestion(watch))).option('--limit <number>', 'watch the best so many', finiteNumber)
  runs<[readonly string[]], AskFlags & LiveFlags>(watch, cli, async (words, flags) => {
    await (await import('./commands/watch.ts')).runWatch(cli, wordsOf(watch, words), flags)
  })

  const explain = define(program, 'explain <id> <words...>', 'say why an entry has its place in an answer, or none', [
    ['querent explain docs/decay.md how does decay work', 'why it is there, or what dropped it'],
    ['querent explain a --over b how does decay work', 'why a stands before b, and what would swap them'],
  ])
  withFormat(withPlace(withMoments(withQuestion(explain))))
    .option('--over <id>', 'compare with this entry')
    .option('--passage <number>', 'with --group passage: the passage at this position', finiteNumber)
    .option('--over-passage <number>', 'the same of the entry to compare with', finiteNumber)
  runs<[string, readonly string[]], ExplainFlags>(explain, cli, async (id, words, flags) => {
    await (await import('./commands/ask.ts')).runExplain(cli, id, wordsOf(explain, words), flags)
  })

  const similar = define(program, 'similar <id>', 'find entries like this one', [
    ['querent similar docs/decay.md --limit 5', 'its five nearest'],
  ])
  withFormat(withPlace(similar)).option('--limit <number>', 'how many at most', finiteNumber).addOption(groupOption())
  runs<[string], SimilarFlags>(similar, cli, async (id, flags) => {
    await (await import('./commands/ask.ts')).runSimilar(cli, id, flags)
  })
}

function defineRecall(program: Command, cli: Cli): void {
  const recall = define(program, 'recall <words...>', 'ask what was said; `-` reads the question from standard input', [
    ['querent recall when did Mira move the kiln', 'the best ten messages of all conversations'],
    ['querent recall --conversation home --speaker Mira where is the kiln', 'what she said there'],
    ['querent recall --max-tokens 2000 --json what do we know of the kiln', 'for a prompt, in the order of time'],
  ])
  withFormat(withPlace(withPaging(withTouch(withSyntax(recall)))))
    .allowUnknownOption()
    .option('--conversation <name>', 'only in this conversation (repeatable)', collect)
    .option('--speaker <name>', 'only what this one said (repeatable)', collect)
    .option('--role <role>', 'only of this role: user, assistant, system, tool (repeatable)', collect)
    .option(...TIMEOUT)
    .option('--since <time>', 'only what was said from this moment on')
    .option('--until <time>', 'only what was said before this moment')
    .option('--max-tokens <number>', 'the best that fit into so many tokens, in the order of time', finiteNumber)
    .option('--neighbours <number>', 'so many messages before and after each', finiteNumber)
    .option('--as-of <time>', 'ask as if it were this moment')
    .option('--words', 'by words alone')
    .option('--explain', 'show how each score was made')
    .option('--fail-empty', 'end with exit code 3 when nothing is relevant')
  runs<[readonly string[]], RecallFlags>(recall, cli, async (words, flags) => {
    await (await import('./commands/recall.ts')).runRecall(cli, wordsOf(recall, words), flags)
  })
}
