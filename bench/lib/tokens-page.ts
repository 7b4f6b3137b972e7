/** The page that tells what ways of reading code cost. */
import { sha256 } from '../../src/base/canonical.ts'
import { type CodeQuestion, namesItself } from './code-questions.ts'
import { type CodeFiles, MAX_READS, MAX_TOKENS, type Reading } from './code-reading.ts'

export interface Way {
  readonly name: string
  /** One for each question. */
  readonly readings: readonly Reading[]
}

export function tokensPage(questions: readonly CodeQuestion[], ways: readonly Way[], files: CodeFiles): string {
  const named = questions.filter(namesItself).length
  const content = sha256([...files].map(([path, text]) => `${path}\n${text}`).join('\n')).slice(0, 12)
  const lines = [
    '# Tokens to an answer',
    '',
    'Made by `node scripts/on24.mjs scripts/context-tokens.ts`; do not edit by hand.',
    '',
    `${questions.length} questions about the code of this repository (\`src\`: ${files.size} files, content ${content}), each with the line that`,
    'answers it. The table counts what is read in each way until that line has been read. The figures depend on the code alone, not on the',
    'machine. The code grows, so compare the columns of one table, not tables of two days.',
    '',
    '- **context**: `querent context query "<question>" --max-tokens ' +
      `${MAX_TOKENS}\` with the defaults of the command, all that it prints. Then`,
    `  \`definition\` of each concept of its table whose text was not printed, in order. Then the same`,
    `  question with \`--limit 30\` and room for three times as much, and so on, with at most ${MAX_READS} more calls. With the default model, and without any.`,
    '- **search**: one search for all words of the question (no function words, endings cut), which lists 20 files. Those with most',
    `  different words come first, of those the ones with most matching lines. Then at most ${MAX_READS} files in that order: whole, or the lines that`,
    '  match with ten before and after each. It looks into TypeScript alone; the index has the Markdown and JSON of `src` too.',
    '',
    'No way judges what it sees; an agent that does reads less by each of them. Tokens are estimated as for chunks, in the same way for',
    `all. ${named} of the questions (marked *) have a word of the name that answers. They were written before anything was measured.`,
    '',
    `| Question | Answer | ${ways.map(({ name }) => name).join(' | ')} |`,
    `|---|---|${ways.map(() => '---:|').join('')}`,
    ...questions.map((question, at) => {
      const cells = ways.map(({ readings }) => cell(readings[at] as Reading))
      const mark = namesItself(question) ? ' *' : ''
      return `| ${question.text}${mark} | \`${question.symbol}\` | ${cells.join(' | ')} |`
    }),
    `| **found** | | ${ways.map(({ readings }) => `${found(readings).length} of ${readings.length}`).join(' | ')} |`,
    `| **tokens, all questions** | | ${ways.map(({ readings }) => sum(readings)).join(' | ')} |`,
    `| **tokens, median of the found** | | ${ways.map(({ readings }) => median(found(readings))).join(' | ')} |`,
    `| **tokens for each answer found** | | ${ways.map(({ readings }) => Math.round(sum(readings) / found(readings).length)).join(' | ')} |`,
    '',
    'In brackets: files or definitions read after the first answer; *no*: not found by then, and its tokens were spent in vain.',
    '',
  ]
  return lines.join('\n')
}

function cell({ tokens, reads, found: isFound }: Reading): string {
  return `${isFound ? '' : '*no* '}${tokens} (${reads})`
}

function found(readings: readonly Reading[]): readonly Reading[] {
  return readings.filter(reading => reading.found)
}

function sum(readings: readonly Reading[]): number {
  return readings.reduce((total, { tokens }) => total + tokens, 0)
}

function median(readings: readonly Reading[]): number {
  const sorted = readings.map(({ tokens }) => tokens).sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}
