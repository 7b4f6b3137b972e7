/** Answers of the lens `context` as text: tables separated by tabs, as its contract has them. */
import { printable } from '../../../base/printable.ts'
import { all, cell, each, type Print } from './answer.ts'

/** A line each, below a title if there is one. Tabs part its values, so no value may have one. */
function tabbed(path: string, template: string, title = ''): Print<object> {
  const rows = each(path, template, 'cell')
  return (answer, shown) => (title === '' ? '' : `${title}\n`) + rows(answer, shown)
}

/** With an empty line between them. */
function parts(...prints: readonly Print<object>[]): Print<object> {
  const texts: Print<object> = (answer, shown) =>
    prints
      .map(print => print(answer, shown))
      .filter(text => text !== '')
      .join('\n')
  return texts
}

const found: Print<object> = parts(
  tabbed('concepts', '{id}\t{name}\t{type}\t{relevance}\t{|score 3|}', 'ID\tNAME\tTYPE\tRELEVANCE\tSCORE'),
  tabbed('files', '{url}{:|start_line|}{-|end_line|}{ (|error.message|)}', 'FILES'),
  tabbed('graph.edges', '{source} --[{relation}]--> {target}', 'EDGES'),
  bundle => textAt((bundle as { readonly bundle?: object }).bundle ?? {}),
)

export const answerText: Print<object> = (answer, shown) =>
  each('concepts', '.')(answer, shown) === '' ? '(no concepts found)\n' : found(answer, shown)

const PLACE = '{|url|}{:|start_line|}{-|end_line|}'
const NAMED = '{id}\t{name}\t{type}'

const places: Print<object> = all(
  (answer, shown) =>
    ((answer as { definitions?: readonly object[] }).definitions ?? [])
      .map(one => tabbed('', `${NAMED}\t${PLACE}`)(one, shown) + textAt(one).replace(/\n$/, '\n\n'))
      .join(''),
  tabbed('references', `${NAMED}\t{relation}\t${PLACE}`),
  tabbed('callers', `${NAMED}\t{hops}\t${PLACE}`),
  (answer, shown) => {
    const { total = 0 } = (answer as { readonly unresolved?: { readonly total: number } }).unresolved ?? {}
    return total === 0
      ? ''
      : tabbed('unresolved.places', `${NAMED}\t{url}:{line}\t{text}`, `NOT RESOLVED (${total})`)(answer, shown)
  },
)

/** Of `definition`, `references` or `callers`. */
export const placesText: Print<object> = (answer, shown) => places(answer, shown) || '(nothing found)\n'

/** Nothing of a text that is not there. */
function textAt({ text }: { readonly text?: unknown }): string {
  return typeof text === 'string' && text !== '' ? `${printable(text)}\n` : ''
}

const OUTSIDE = ' of the folder that the store is in (make one there, or name it with --home)'

interface WithErrors {
  readonly with_errors: { readonly files: readonly object[] }
}

/** Files read with errors that are named as text. */
const MAX_WITH_ERRORS = 10

export const indexText: Print<object> = all(
  each('', '{indexed} files read ({concepts} concepts), {skipped} unchanged, {deleted} deleted'),
  each('', '{left_out.total} left out{ (|left_out.reasons|)}, {errors.total} could not be read'),
  each('?with_errors.total', '{with_errors.total} read with errors: declarations in them may be missing'),
  each(answer => (answer as WithErrors).with_errors.files.slice(0, MAX_WITH_ERRORS), '  {url}: read with errors'),
  (answer, shown) =>
    each('errors.files', '  {url}: {reason}')(answer, shown).replaceAll(': outside\n', `: outside${OUTSIDE}\n`),
  answer => `${((answer as { ms: number }).ms / 1000).toFixed(1)} s, `,
  each('', '{files_per_second} files a second'),
)

/** Ids that an advice names. */
const MAX_IDS = 10

/** What to do next, where the answer itself does not say. */
export function adviceOn({
  errors,
  result,
  meta: { verdict, reason },
}: {
  readonly errors: unknown
  readonly result: unknown
  readonly meta: { readonly verdict?: string | undefined; readonly reason?: string | undefined }
}): readonly string[] {
  if (Object.values(errors ?? {}).some(([error]) => error?.code === 'not_initialized')) {
    return ['the code of this folder has not been read yet: querent context index']
  }
  const { total, ...lists } = (result ?? {}) as Readonly<Record<string, unknown>>
  const shown = ['definitions', 'references', 'callers'].map(name => lists[name]).find(Array.isArray)
  const isCut = typeof total === 'number' && shown !== undefined && shown.length < total
  const ids = ((lists['of'] ?? []) as readonly { readonly id: number }[]).map(({ id }) => id)
  const some = ids.slice(0, MAX_IDS).join(', ')
  const isDoubtful = verdict !== undefined && verdict !== 'answered'
  return [
    ...(isDoubtful ? [`${verdict === 'weak' ? 'weak answer' : 'nothing relevant'}: ${reason}`] : []),
    ...(isCut ? [`${shown.length} of ${total} shown; --limit ${total} shows all`] : []),
    ...(ids.length > 1 ? [`${ids.length} concepts have this name; give an id for one: ${some}`] : []),
  ]
}

/** One line an error: `query: query is required`. */
export function errorLines(errors: unknown, at = ''): readonly string[] {
  return Object.entries(errors ?? {}).flatMap(([field, inner]) => {
    const path = at === '' ? field : `${at}.${field}`
    if (!Array.isArray(inner)) return errorLines(inner, path)
    return inner.map((error: { message?: unknown; code?: unknown }) =>
      cell(`${path}: ${String(error.message ?? error.code)}`),
    )
  })
}
