/** What commands about the store print for people. */

import { printable } from '../../../base/printable.ts'
import type {
  AddReport,
  Backup,
  EntryView,
  Examination,
  ExplainAnswer,
  ListPage,
  Status,
} from '../../../engine/engine.ts'
import type { Count } from '../../../model/page.ts'
import {
  all,
  type Columns,
  each,
  facts,
  lines,
  markdownText,
  moreText,
  notes,
  type Print,
  rows,
  valueText,
} from './answer.ts'
import { explanationText, shortOrigin } from './page.ts'
import { oneLine } from './style.ts'

/** Most problems listed one by one; the rest is a number (`--json` has them all). */
const MOST_PROBLEMS = 20

function audience(path: string): string {
  return `{${path}.kind}{ with |${path}.federations|}`
}

export const addText: Print<AddReport> = all<AddReport>(
  (report, shown) => {
    const counts = '{added} added, {updated} updated, {unchanged} unchanged, {deleted} deleted'
    return each('', `${counts}, ${skippedText(report.skipped)}, {errors.length} failed`)(report, shown)
  },
  each('', '{chunks chunk/chunks}'),
  each('?pending', '{pending} still without a vector{ (|embedding_error|)}'),
  each(
    'visibility_changes',
    `visibility of {count entry/entries} of {path} changed from ${audience('from')} to ${audience('to')}`,
  ),
  ({ errors, warnings, skipped }, { style }) => {
    const problems = [
      ...skipped.flatMap(({ path, reason }) => {
        const why = UNREADABLE.get(reason)
        return why === undefined ? [] : [`skipped ${oneLine(path)}: ${why}`]
      }),
      ...errors.map(({ path, message }) => `${style.bad('failed')} ${oneLine(path)}: ${oneLine(message)}`),
      ...warnings.map(({ path, message }) => `warning ${oneLine(path)}: ${oneLine(message)}`),
    ]
    const more = problems.length - MOST_PROBLEMS
    return lines([...problems.slice(0, MOST_PROBLEMS), ...(more > 0 ? [`and ${more} more`] : [])])
  },
)

/** Files that people take for readable. */
const UNREADABLE: ReadonlyMap<string, string> = new Map([
  ['encrypted', 'encrypted; save it without a password, and add it again'],
  ['no_text', 'it has no text, such as scanned pages; let a program for text recognition (OCR) add it first'],
])

/** `3 skipped (binary: 2, symlink: 1)`, the commonest first; `0 skipped` when nothing was. */
function skippedText(skipped: AddReport['skipped']): string {
  const counts = new Map<string, number>()
  for (const { reason, count = 1 } of skipped) counts.set(reason, (counts.get(reason) ?? 0) + count)
  const sum = [...counts.values()].reduce((before, count) => before + count, 0)
  const reasons = [...counts].sort(([, a], [, b]) => b - a).map(([reason, count]) => `${oneLine(reason)}: ${count}`)
  return `${sum} skipped${sum === 0 ? '' : ` (${reasons.join(', ')})`}`
}

export const countText: Print<Count> = ({ count, exact, reason }) =>
  `${exact ? '' : 'more than '}${count}${reason === null ? '' : ` (${reason})`}\n`

export const explainText: Print<ExplainAnswer> = all<ExplainAnswer>(
  each('over', '{sentence}'),
  ({ over }) => {
    const parts = Object.entries(over?.by_component ?? {})
    return lines(parts.map(([name, value]) => `  ${valueText(value, '+4')} ${oneLine(name)}`))
  },
  each('over', '  {gap +4} in all'),
  each('over.swap', '{weight} from {from} to {to} would swap them', 'note'),
  each('', '{sentence}'),
  ({ explanation }, { style }) => (explanation === null ? '' : explanationText(explanation, style)),
)

const PENDING = 'to erase: what was deleted may still be found in the log or in snapshots; see `querent help delete`'

export const statusText: Print<Status> = all<Status>(
  each('', 'querent {version}'),
  each('?home', 'home: {home}'), // for the owner only
  each('', 'entries: {entries}'),
  each('collections', '  {value}: {count}'),
  each('', 'chunks: {chunks}, {embedded} embedded'),
  each(
    '?embedder',
    'embedder: {|embedder.id|}{, |embedder.dimensions| dimensions}{, |embedder.runs_on.runtime| runtime}{, |embedder.runs_on.workers worker/workers| of one thread}',
  ),
  ({ embedder, embedder_error: error }) =>
    embedder === null ? `embedder: none, words only${error === null ? '' : ` (${error})`}\n` : '',
  each('indexes', 'index {name}: {|rows row/rows|}{, |bytes MiB|}'),
  each('', 'lenses: {lenses}'),
  each('notices', 'notice: {}'),
  each('storage', 'log: {log_bytes MiB}'),
  each('?storage.to_erase', PENDING),
)

export const doctorText: Print<Examination> = (answer, shown) =>
  answer.findings
    .map(finding => {
      const { style } = shown
      const head = finding.ok ? style.good('ok  ') : style.bad('FAIL')
      const help = finding.ok ? '' : each('?help', '     {help}')(finding, shown)
      return `${head} ${each('', '{check}: {message}')(finding, shown)}${each('?repaired', '     repaired: {repaired}')(finding, shown)}${help}`
    })
    .join('') + each('?backup', 'the store as it was before: {backup}')(answer, shown)

export const backupText: Print<Backup> = all<Backup>(
  each('', '{path}: {entries entry/entries}, {bytes MiB}'),
  each('?not_held.length', 'not in it: {not_held} of the home'),
)

const FACTS: Columns = [
  ...['id', 'collection', 'kind', 'holder', 'visibility=audience.kind', 'federations=audience.federations', 'tags'],
  ...['origin', 'created=created_at', 'updated=updated_at', 'valid from=valid_from', 'valid until=valid_until'],
  ...['used=access.count', 'last used=access.last_accessed', 'metadata'],
]

/** Title, facts, an empty line, the content as it is (control characters apart). */
export const entryText: Print<EntryView> = (entry, shown) => {
  const title = oneLine(entry.title) || '(untitled)'
  const origin = entry.origin && shortOrigin(entry.origin, shown.folder)
  const head = shown.isMarkdown ? `# ${markdownText(title)}\n` : shown.style.bold(title)
  return `${head}\n${facts('', FACTS)({ ...entry, origin }, shown)}\n${printable(entry.content).replace(/\n?$/, '\n')}`
}

export const listText: Print<ListPage> = rows(
  'items',
  ['id', 'collection', 'kind', 'UPDATED=updated_at minute', 'title'],
  'no entries',
  ({ cursor, items, total }, shown) => `\n${items.length} of ${total}\n${notes(moreText(cursor, shown), shown)}`,
)
