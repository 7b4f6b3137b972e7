/** Answers of the lens `context` as text: tables separated by tabs, as its contract has them. */
import { printable } from '../../../base/printable.ts'
import { all, cell, each, type Print } from './answer.ts'

/** A line each. Tabs part its values, so no value may have one. */
function tabbed(path: string, template: string): Print<object> {
  return each(path, template, 'cell')
}

/** With an empty line between them. */
function parts(...prints: readonly Print<object>[]): Print<object> {
  return (answer, shown) =>
    prints
      .map(print => print(answer, shown))
      .filter(text => text !== '')
      .join('\n')
}

function titled(title: string, print: Print<object>): Print<object> {
  return (answer, shown) => `${title}\n${print(answer, shown)}`
}

function or(print: Print<object>, none: (answer: object) => string): Print<object> {
  return (answer, shown) => print(answer, shown) || `${none(answer)}\n`
}

const found: Print<object> = parts(
  titled('ID\tNAME\tTYPE\tRELEVANCE\tSCORE', tabbed('concepts', '{id}\t{name}\t{type}\t{relevance}\t{|score 3|}')),
  titled('FILES', tabbed('files', '{url}{:|start_line|}{-|end_line|}{ (|error.message|)}')),
  titled('EDGES', tabbed('graph.edges', '{source} --[{relation}]--> {target}')),
  bundle => textAt(bundle, 'bundle', 'text'),
)

export const answerText: Print<object> = (answer, shown) =>
  each('concepts', '.')(answer, shown) === '' ? '(no concepts found)\n' : found(answer, shown)

const PLACE = '{|url|}{:|start_line|}{-|end_line|}'
const NAMED = '{id}\t{name}\t{type}'

/** Of `definition`, `references` or `callers`. */
export const placesText: Print<object> = or(
  all(
    (answer, shown) =>
      ((answer as { definitions?: readonly object[] }).definitions ?? [])
        .map(one => tabbed('', `${NAMED}\t${PLACE}`)(one, shown) + textAt(one, 'text').replace(/\n$/, '\n\n'))
        .join(''),
    tabbed('references', `${NAMED}\t{relation}\t${PLACE}`),
    tabbed('callers', `${NAMED}\t{hops}\t${PLACE}`),
  ),
  () => '(nothing found)',
)

export const impactText: Print<object> = parts(
  titled('CHANGED', tabbed('changed', `${NAMED}\t${PLACE}`)),
  titled('DEPENDANTS', tabbed('dependants', `${NAMED}\t{hops}\t{relation}\t${PLACE}`)),
  titled('FILES', tabbed('files', '{}')),
  (answer, shown) => {
    const others = tabbed('not_indexed', '{}')(answer, shown)
    return others === '' ? '' : `NOT INDEXED\n${others}`
  },
)

/** Nothing of a text that is not there. */
function textAt(from: object, ...path: readonly string[]): string {
  const text = path.reduce<unknown>((at, name) => (at as Record<string, unknown> | null | undefined)?.[name], from)
  return typeof text === 'string' && text !== '' ? `${printable(text)}\n` : ''
}

export const mapText: Print<object> = or(
  answer => textAt(answer, 'text'),
  answer => {
    const { omitted } = answer as { readonly omitted: number }
    return omitted === 0 ? '(no symbols found)' : `(no room for any of ${omitted} symbols)`
  },
)

const OUTSIDE = ' of the folder that the store stands in (make one there, or name it with --home)'

export const indexText: Print<object> = all(
  each('', '{indexed} files read ({concepts} concepts), {skipped} unchanged, {deleted} deleted, {renamed} renamed'),
  each('', '{left_out.total} left out{ (|left_out.reasons|)}, {errors.total} could not be read'),
  (answer, shown) =>
    each('errors.files', '  {url}: {reason}')(answer, shown).replaceAll(': outside\n', `: outside${OUTSIDE}\n`),
  answer => `${((answer as { ms: number }).ms / 1000).toFixed(1)} s, `,
  each('', '{files_per_second} files a second'),
)

/** Ids that an advice names. */
const MOST_IDS = 10

/** What to do next, where the answer itself does not say. */
export function adviceOn({
  errors,
  result,
}: {
  readonly errors: unknown
  readonly result: unknown
}): readonly string[] {
  if (Object.values(errors ?? {}).some(([error]) => error?.code === 'not_initialized')) {
    return ['the code of this folder has not been read yet: querent context index']
  }
  const { total, ...lists } = (result ?? {}) as Readonly<Record<string, unknown>>
  const shown = ['definitions', 'references', 'callers', 'dependants'].map(name => lists[name]).find(Array.isArray)
  const isCut = typeof total === 'number' && shown !== undefined && shown.length < total
  const named = (lists['of'] ?? []) as readonly { readonly id: number }[]
  const ids = named.slice(0, MOST_IDS).map(({ id }) => id)
  return [
    ...(isCut ? [`${shown.length} of ${total} shown; --limit ${total} shows all`] : []),
    ...(named.length > 1 ? [`${named.length} concepts have this name; give an id for one: ${ids.join(', ')}`] : []),
  ]
}

/** One line an error: `query: query is required`. */
export function errorLines(errors: unknown, at: readonly string[] = []): readonly string[] {
  if (typeof errors !== 'object' || errors === null) return []
  if (Array.isArray(errors)) {
    return errors.map((error: { message?: unknown; code?: unknown }) =>
      cell(`${at.join('.')}: ${String(error.message ?? error.code)}`),
    )
  }
  return Object.entries(errors).flatMap(([field, inner]) => errorLines(inner, [...at, field]))
}
