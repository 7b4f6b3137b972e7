/** What commands about the store print for people. */

import { printable } from '../../../base/printable.ts'
import type {
  AddedPathState,
  AddReport,
  Backup,
  EntryView,
  Examination,
  ExplainAnswer,
  ListPage,
  ModelCheck,
  ModelList,
  Status,
  SyncReport,
  UsedModel,
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
  oneLine,
  type Print,
  rows,
  valueText,
} from './answer.ts'
import { explanationText, shortOrigin } from './page.ts'

/** Most problems listed one by one; the rest is a number (`--json` has them all). */
const MAX_PROBLEMS = 20
/** Names of skipped files listed for each reason. */
const MAX_NAMED_PATHS = 3

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
  ({ skipped }) => skippedPaths(skipped),
  ({ errors, warnings }, { style }) => {
    const problems = [
      ...errors.map(({ path, message }) => `${style.bad('failed')} ${oneLine(path)}: ${oneLine(message)}`),
      ...warnings.map(({ path, message }) => `warning ${oneLine(path)}: ${oneLine(message)}`),
    ]
    const more = problems.length - MAX_PROBLEMS
    return lines([...problems.slice(0, MAX_PROBLEMS), ...(more > 0 ? [`and ${more} more`] : [])])
  },
)

/** `3 skipped (binary: 2, symlink: 1)`, the commonest first; `0 skipped` when nothing was. */
function skippedText(skipped: AddReport['skipped']): string {
  const byReason = skippedByReason(skipped)
  const sum = byReason.reduce((before, { count }) => before + count, 0)
  const reasons = byReason.map(({ reason, count }) => `${oneLine(reason)}: ${count}`)
  return `${sum} skipped${sum === 0 ? '' : ` (${reasons.join(', ')})`}`
}

/** `skipped (binary) a.bin, b.bin, c.bin and 4 more`, a line for each reason. */
function skippedPaths(skipped: AddReport['skipped']): string {
  return lines(
    skippedByReason(skipped).map(({ reason, paths }) => {
      const named = paths.slice(0, MAX_NAMED_PATHS)
      const more = paths.length > named.length ? ` and ${paths.length - named.length} more` : ''
      return `skipped (${oneLine(reason)}) ${named.map(oneLine).join(', ')}${more}`
    }),
  )
}

interface SkippedReason {
  readonly reason: string
  readonly count: number
  readonly paths: readonly string[]
}

/** The commonest reason first. */
function skippedByReason(skipped: AddReport['skipped']): readonly SkippedReason[] {
  return [...Map.groupBy(skipped, ({ reason }) => reason)]
    .map(([reason, files]) => ({
      reason,
      count: files.reduce((sum, { count = 1 }) => sum + count, 0),
      paths: files.map(({ path }) => path),
    }))
    .sort((a, b) => b.count - a.count)
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

/** Added paths with what changed below them. */
const addedPaths: Print<{ readonly paths: readonly AddedPathState[] | null }> = ({ paths }, { folder }) =>
  (paths ?? [])
    .map(({ path, lens, missing, is_changed: isChanged, files, changed, added, deleted, error }) => {
      const failure = error === null ? '' : `  could not be read: ${oneLine(error)}\n`
      if (lens !== null && !missing)
        return `code ${oneLine(shortOrigin(path, folder))}: ${isChanged ? 'changed' : 'as it was read'}\n${failure}`
      const changes = [
        [changed, 'changed'],
        [added, 'new'],
        [deleted, 'deleted'],
      ].flatMap(([count, what]) => (Number(count) > 0 ? `${count} ${what}` : []))
      const state = missing
        ? 'not there; its entries are kept'
        : `${files} files${changes.map(one => `, ${one}`).join('')}`
      return `added ${oneLine(shortOrigin(path, folder))}: ${state}\n${failure}`
    })
    .join('')

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
  addedPaths,
  each('storage', 'log: {log_bytes MiB}'),
  each('?storage.to_erase', PENDING),
)

export const syncText: Print<SyncReport> = (report, shown) => {
  const { paths, added, updated, deleted, errors } = report
  // What went wrong just now is listed below.
  const states = addedPaths(
    { paths: errors.length === 0 ? paths : paths.map(path => ({ ...path, error: null })) },
    shown,
  )
  const isDry = paths.some(path => path.is_changed)
  const isDone = added + updated + deleted + errors.length > 0
  if (paths.length === 0 && !isDone) return 'nothing was added yet: querent add FOLDER\n'
  return states + (isDone || isDry ? addText(report, shown) : 'nothing has changed\n')
}

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
  ...['used=access.count', 'last used=access.last_accessed', 'links', 'backlinks', 'metadata'],
]

/** Title, facts, an empty line, the content as it is (control characters apart). */
export const entryText: Print<EntryView> = (entry, shown) => {
  const title = oneLine(entry.title) || '(untitled)'
  const origin = entry.origin && shortOrigin(entry.origin, shown.folder)
  const head = shown.isMarkdown ? `# ${markdownText(title)}\n` : shown.style.bold(title)
  const [links, backlinks] = [entry.links, entry.backlinks].map(names => names.map(({ title, id }) => title || id))
  return `${head}\n${facts('', FACTS)({ ...entry, origin, links, backlinks }, shown)}\n${printable(entry.content).replace(/\n?$/, '\n')}`
}

export const listText: Print<ListPage> = rows(
  'items',
  ['id', 'collection', 'kind', 'UPDATED=updated_at minute', 'title'],
  'no entries',
  ({ cursor, items, total }, shown) => `\n${items.length} of ${total}\n${notes(moreText(cursor, shown), shown)}`,
)

export const modelsText: Print<ModelList> = all<ModelList>(
  ({ models }) => (models.length === 0 ? 'no model: words only\n' : ''),
  each(
    'models',
    '{id}: {role}, {dimensions} dimensions, {vectors} of {chunks} embedded{, about |seconds_left| seconds left}',
  ),
  ({ models }) =>
    models.length > 0 && models.every(({ languages }) => languages.length === 1) ? `${FOR_OTHER_LANGUAGES}\n` : '',
)

const FOR_OTHER_LANGUAGES =
  'for other languages: `npm run model:multilingual` in a checkout, then `querent model use multilingual`'

export const modelCheckText: Print<ModelCheck> = all<ModelCheck>(
  each('', '{id}: {dimensions} dimensions, {|bytes MiB|}, texts of up to {max_tokens} tokens'),
  ({ languages }) => (languages.length === 0 ? '' : `languages: ${languages.join(', ')}\n`),
  ({ calibrated }) => (calibrated ? '' : 'not calibrated: no answer is refused for lack of evidence\n'),
  ({ ok, message }) => `self-test ${ok ? 'passed' : 'failed'}: ${oneLine(message)}\n`,
  each('', '{|texts_per_second| short texts a second on one thread}'),
)

export const usedModelText: Print<UsedModel> = ({ id, for: role, restart }) => {
  const use = role === 'all' ? 'is used for everything' : 'is used for other languages'
  return `${id} ${use}${restart ? ', when the store is next opened' : ''}\n`
}
