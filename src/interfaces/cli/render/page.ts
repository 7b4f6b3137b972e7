/** Formats pages of results as text and as Markdown, and the reports of commands about the store. */
import { isAbsolute, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
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
import type { Explanation } from '../../../model/explanation.ts'
import type { Count, Excerpt, Item, Note, Page, Passage } from '../../../model/page.ts'
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
  type Shown,
  type Style,
  valueText,
} from './answer.ts'

export function pageText(page: Page, shown: Shown): string {
  const { nearest = [] } = page
  const rest = { ...page, notes: page.notes.filter(note => !isOfReading(note)) }
  if (shown.isMarkdown) {
    const sections = (items: readonly Item[]) => items.map(item => itemMarkdown(item, shown)).join('')
    const near = nearest.length === 0 ? '' : `\nNearest, not an answer:\n\n${sections(nearest)}`
    return (
      readingNotes(page, shown) + sections(page.items) + lines(footerLines(rest, shown).map(line => `- ${line}`)) + near
    )
  }
  const items = page.items.map(item => `${itemText(item, shown, page.mode !== 'list')}\n`).join('')
  // Results that nearly match are shown with one line each: they are not part of the answer, and `--any` shows them in full.
  const near = nearest.map(({ title, origin, excerpt, score }) =>
    shown.style.dim(`  ${titleText(title)}  ${place(origin, excerpt, shown.folder)}  ${score.toFixed(3)}`),
  )
  return (
    readingNotes(page, shown) +
    items +
    footer(rest, shown) +
    (near.length === 0 ? '' : lines(['nearest, not an answer:', ...near]))
  )
}

/** Notes on how the query was interpreted. They are printed before the results, which depend on the interpretation. */
function readingNotes({ notes, items }: Pick<Page, 'notes' | 'items'>, { isMarkdown }: Shown): string {
  const texts = notes.filter(isOfReading).map(({ message }) => `note: ${oneLine(message)}`)
  const shown = lines(isMarkdown ? texts.map(text => `- ${markdownText(text)}`) : texts)
  return shown === '' || items.length === 0 ? shown : `${shown}\n`
}

function isOfReading({ code }: Note): boolean {
  return code === 'read_as_text' || code === 'condition_dropped' || code === 'text_cut'
}

function titleText(title: string): string {
  return oneLine(title) || '(untitled)'
}

/**
 * The passages that are listed below a result. The result's first line already has lines, section and score of its best passage, so a
 * single passage is listed only if passages were requested.
 */
function passagesOf({ passages }: Item, { input }: Shown): readonly Passage[] {
  return passages.length > 1 || input['passages'] !== undefined ? passages : []
}

/**
 * Formats one result of a query:
 *
 *     1. Kernel  docs/index.md:12-18  Kernel › Segments  0.83
 *        … the lines that match …
 *        why: matches "kernel" in title and text
 */
function itemText(item: Item, shown: Shown, hasScore: boolean): string {
  const { style, folder } = shown
  const { rank, title, origin, excerpt, score, why, explanation } = item
  const where = style.dim(
    `${place(origin, excerpt, folder)}${sectionPath(excerpt)}${hasScore ? `  ${score.toFixed(3)}` : ''}  ${idOf(item)}`,
  )
  const passages = passagesOf(item, shown).map(passage => {
    const tree = passage.explanation === undefined ? '' : explanationText(passage.explanation, style)
    const head = style.dim(`${passagePlace(passage)}  ${passage.score.toFixed(3)}`)
    return `${head}\n${indented(`${highlighted(passage, style.mark)}\n${tree}`, '  ')}`
  })
  const body = passages.length > 0 ? passages.join('') : `${highlighted(excerpt, style.mark)}\n`
  const tree = explanation === undefined ? '' : explanationText(explanation, style)
  const rest = `${body}${style.dim(`why: ${oneLine(why)}`)}\n${tree}`
  return `${rank}. ${style.bold(titleText(title))}  ${where}\n${indented(rest, `${rank}. `.replace(/./g, ' '))}`
}

/** Name of a result: the entry's id, and for a passage its number: `docs/index.md`, or `docs/index.md  passage 3`. */
function idOf({ id, passage }: Item): string {
  return passage === undefined ? oneLine(id) : `${oneLine(id)}  passage ${passage}`
}

function passagePlace(passage: Passage): string {
  return place(null, passage, '') + sectionPath(passage)
}

/** The lines of a text that are not blank, each preceded by `indent`. */
export function indented(text: string, indent: string): string {
  const filled = text.split('\n').filter(line => line.trim() !== '')
  return lines(filled.map(line => indent + line))
}

/** Parts of an answer besides its results, as the answers of several lenses have them. */
type PageEnd = Pick<Page, 'cursor' | 'verdict' | 'reason' | 'did_you_mean' | 'mode' | 'notes'> & {
  readonly nearest?: readonly unknown[] | undefined
}

/** Lines below the results: whether the answer is relevant, notes, and how to get the next page. */
export function footer(page: PageEnd, shown: Shown): string {
  return lines(footerLines(page, shown)) + notes(moreText(page.cursor, shown), shown)
}

function footerLines(page: PageEnd, shown: Shown): readonly string[] {
  const { style, input, isMarkdown } = shown
  const clean = (text: string) => (isMarkdown ? markdownText(oneLine(text)) : oneLine(text))
  const verdict = { answered: style.good('answered'), weak: 'weak answer', nothing_relevant: 'nothing relevant' }[
    page.verdict
  ]
  const isHinted = page.verdict === 'nothing_relevant' && input['any'] !== true && page.nearest?.length !== 0
  return [
    verdict + (page.reason === null ? '' : `: ${clean(page.reason)}`),
    ...(isHinted && !isMarkdown ? [style.dim('use --any to see the closest results')] : []),
    ...(page.did_you_mean === undefined ? [] : [`asked as: ${clean(page.did_you_mean)}`]),
    ...page.notes.map(note => `note: ${clean(note.message)}`),
    ...(isMarkdown ? moreText(page.cursor, shown).map(text => `${text.replace('more: ', 'more: `')}\``) : []),
  ]
}

function itemMarkdown(item: Item, shown: Shown): string {
  const { rank, title, origin, excerpt, score, why } = item
  const quote = (part: Excerpt) =>
    lines(
      highlighted(part, text => `**${text}**`, markdownText)
        .split('\n')
        .map(line => `> ${line}`),
    )
  const passages = passagesOf(item, shown).map(passage => {
    return `${markdownText(passagePlace(passage))}, score ${passage.score.toFixed(3)}\n\n${quote(passage)}`
  })
  const where = markdownText(place(origin, excerpt, shown.folder) + sectionPath(excerpt))
  const head = `## ${rank}. ${markdownText(titleText(title))}\n\n${where}, score ${score.toFixed(3)}, id ${markdownText(idOf(item))}\n`
  return `${head}\n${passages.length > 0 ? passages.join('\n') : quote(excerpt)}\n${markdownText(oneLine(why))}\n\n`
}

/**
 * Text of an excerpt with its highlighted words marked. Highlights are offsets in the original text, so the text is first cut at them and
 * its parts are made printable afterwards. `…` marks where the excerpt begins or ends within a sentence.
 */
function highlighted(excerpt: Excerpt, mark: (text: string) => string, plain = (text: string): string => text): string {
  const parts: string[] = excerpt.cut_start === true ? ['… '] : []
  let at = 0
  for (const [start, end] of excerpt.highlights) {
    if (start < at || end > excerpt.text.length) continue
    parts.push(plain(printable(excerpt.text.slice(at, start))), mark(plain(printable(excerpt.text.slice(start, end)))))
    at = end
  }
  return parts.join('') + plain(printable(excerpt.text.slice(at))) + (excerpt.cut_end === true ? ' …' : '')
}

export function place(origin: string | null, excerpt: Excerpt, workingFolder: string): string {
  const isOne = excerpt.start_line === excerpt.end_line
  const lines = isOne ? `${excerpt.start_line}` : `${excerpt.start_line}-${excerpt.end_line}`
  return origin === null ? `${isOne ? 'line' : 'lines'} ${lines}` : `${shortOrigin(origin, workingFolder)}:${lines}`
}

/** Headings above an excerpt, such as `Backups › Restoring`, preceded by two blanks; empty if the excerpt is below no heading. */
function sectionPath({ section }: Excerpt): string {
  return section.length === 0 ? '' : `  ${section.map(oneLine).join(' › ')}`
}

export function shortOrigin(origin: string, workingFolder: string): string {
  const path = origin.startsWith('file:') ? pathOf(origin) : origin
  if (!isAbsolute(path)) return oneLine(path)
  const short = relative(workingFolder, path)
  return oneLine(short === '' || short.startsWith('..') ? path : short)
}

function pathOf(url: string): string {
  try {
    return fileURLToPath(url)
  } catch {
    return url
  }
}

const SIGNS = { sum: '+', product: '×', quotient: '÷', max: 'max' } as const

/**
 * Formats an explanation of a score as a tree: one line per part, each ended by a line feed, with its own parts below it, indented by two
 * blanks more.
 */
export function explanationText(tree: Explanation, style: Style, indent = ''): string {
  const how = tree.formula === undefined ? '' : ` (${SIGNS[tree.formula]})`
  const note = tree.note === undefined ? '' : style.dim(`  ${oneLine(tree.note)}`)
  const own = `${indent}${tree.value.toFixed(4)} ${oneLine(tree.label)}${how}${note}\n`
  return (
    own +
    (tree.children ?? [])
      .filter(child => !isOff(child))
      .map(child => explanationText(child, style, `${indent}  `))
      .join('')
  )
}

/** Whether a part of the score is switched off by weight 0, such as the word score in a query by meaning; such a part is not shown. */
function isOff({ formula, value, children = [] }: Explanation): boolean {
  return (
    formula === 'product' && value === 0 && children.some(part => part.value === 0 && part.label.startsWith('weight'))
  )
}

// Formats the messages of conversations that match a query, for people.

/** Answer of the operation that searches the messages of conversations. */
interface Recalled extends PageEnd {
  readonly messages: readonly Message[]
  readonly nearest?: readonly Message[]
}

interface Message {
  readonly rank: number
  readonly position: number
  readonly speaker: string
  readonly text: string
  readonly neighbours?: readonly { readonly position: number }[]
  readonly explanation?: Explanation
}

export const recallText: Print<Recalled> = (answer, shown) => {
  const texts = (messages: readonly Message[]) => messages.map(message => messageText(message, shown)).join('')
  const { messages, nearest = [] } = answer
  const near = nearest.length === 0 ? '' : `\nnearest, not an answer:\n${texts(nearest)}`
  return texts(messages) + footer(answer, { ...shown, input: { any: true } }) + near
}

const ASIDE = all<Message>(
  each('?dates.length', 'dates: {dates}', 'note'),
  each('?newer_statement_of.length', 'newer than: {newer_statement_of}', 'note'),
  each('', 'why: {why}', 'note'),
)

/**
 * Formats a message of a conversation:
 *
 *     1. Mira, 2025-03-14 10:02  kiln/m3
 *        Yes, we moved it to the barn last weekend.
 *        dates: weekend of 8 March 2025
 */
function messageText(message: Message, shown: Shown): string {
  const { rank, text, neighbours = [], explanation } = message
  const near = (isBefore: boolean) =>
    each(
      () => neighbours.filter(({ position }) => position < message.position === isBefore),
      '{speaker}: {text}',
      'note',
    )(message, shown)
  const body = `${near(true)}${printable(text)}\n${near(false)}${ASIDE(message, shown)}`
  const head = `{rank}. ${shown.style.bold('{speaker}{, |at minute|}')}  ${shown.style.dim('{id}')}`
  const tree = explanation === undefined ? '' : explanationText(explanation, shown.style)
  const named = { ...message, speaker: message.speaker.trim() || 'unknown speaker' }
  return each('', head)(named, shown) + indented(body + tree, `${rank}. `.replace(/./g, ' '))
}

// Formats the reports of commands about the store, such as `add` and `doctor`.

/** Maximum number of problems that a report lists; further ones are only counted (`--json` has all of them). */
const MAX_PROBLEMS = 20
/** Maximum number of skipped files that a report names for each reason. */
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

/**
 * Text with the number of skipped files, such as `3 skipped (binary: 2, symlink: 1)`, most frequent reason first; `0 skipped` if there are
 * none.
 */
function skippedText(skipped: AddReport['skipped']): string {
  const byReason = skippedByReason(skipped)
  const sum = byReason.reduce((before, { count }) => before + count, 0)
  const reasons = byReason.map(({ reason, count }) => `${oneLine(reason)}: ${count}`)
  return `${sum} skipped${sum === 0 ? '' : ` (${reasons.join(', ')})`}`
}

/** Lists skipped files with one line for each reason, such as `skipped (binary) a.bin, b.bin, c.bin and 4 more`. */
const BINARY = 'binary, or text that is not UTF-8'

function skippedPaths(skipped: AddReport['skipped']): string {
  return lines(
    skippedByReason(skipped).map(({ reason, paths }) => {
      const named = paths.slice(0, MAX_NAMED_PATHS)
      const more = paths.length > named.length ? ` and ${paths.length - named.length} more` : ''
      return `skipped (${oneLine(reason === 'binary' ? BINARY : reason)}) ${named.map(oneLine).join(', ')}${more}`
    }),
  )
}

interface SkippedReason {
  readonly reason: string
  readonly count: number
  readonly paths: readonly string[]
}

/** Reasons why files were skipped, each with the number of files and their paths; most frequent reason first. */
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

/** Lists the added paths, each with the number of changed, added and deleted files below it. */
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
  each('?home', 'home: {home}'), // the path of the home is shown to the owner only
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
  // Errors of this run are listed at the end, so they are left out of the list of added paths.
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
    .join('') + each('?backup', 'backup of the store before the repair: {backup}')(answer, shown)

export const backupText: Print<Backup> = all<Backup>(
  each('', '{path}: {entries entry/entries}, {bytes MiB}'),
  each('?not_held.length', 'not included: {not_held} of the home'),
)

const FACTS: Columns = [
  ...['id', 'collection', 'kind', 'holder', 'visibility=audience.kind', 'federations=audience.federations', 'tags'],
  ...['origin', 'created=created_at', 'updated=updated_at', 'valid from=valid_from', 'valid until=valid_until'],
  ...['used=access.count', 'last used=access.last_accessed', 'links', 'backlinks', 'metadata'],
]

/** Formats an entry: title, facts, an empty line, and the content unchanged except for control characters. */
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
