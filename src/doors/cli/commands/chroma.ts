/** Bodies of `querent chroma …`. */
import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { invalidArgument, QuerentError } from '../../../model/errors.ts'
import { findOperation } from '../../../ops/catalog.ts'
import type { CommonFlags } from '../flags.ts'
import { writeJson } from '../io.ts'
import { withProgress } from '../progress.ts'
import * as render from '../render/chroma.ts'
import { fieldsText } from '../render/fields.ts'
import type { Style } from '../render/style.ts'
import type { Cli } from '../run.ts'
import { type SessionOptions, withSession } from '../session.ts'
import {
  askedFor,
  type ChromaQueryFlags,
  type NodeFlags,
  nodeFields,
  onOff,
  placeOf,
  queryOptions,
  tagsOf,
} from './chroma-input.ts'
import { type Input, parsed, pipedText, textOf } from './input.ts'
import { print } from './print.ts'

export async function runChromaQuery(
  cli: Cli,
  words: readonly string[],
  flags: ChromaQueryFlags & { readonly knn?: true },
): Promise<void> {
  const asked = askedFor(words, flags)
  if (asked === null) throw invalidArgument('words', words.join(' '), 'hashtags or a text')
  const input = { ...asked, ...queryOptions(flags) }
  const name = flags.knn === true ? 'chroma.query_knn' : 'chroma.query'
  const answer = (await call(cli, flags, name, input)) as render.Answer
  await print(cli, flags, answer, { table: style => render.answerText(answer, style, cli.io.stdout.columns) })
}

export async function runBatch(cli: Cli, file: string, flags: CommonFlags): Promise<void> {
  const queries = parsed(await textOf(cli, file), file)
  const answer = (await call(cli, flags, 'chroma.batch_query', { queries })) as { answers: render.Answer[] }
  const table = (style: Style) =>
    answer.answers.map(one => render.answerText(one, style, cli.io.stdout.columns)).join('\n')
  await print(cli, flags, answer, { table })
}

export async function runStore(cli: Cli, content: string | undefined, flags: NodeFlags): Promise<void> {
  const input = {
    hashtags: tagsOf(flags.tags ?? ''),
    content: content === '-' || content === undefined ? await pipedText(cli) : content,
    ...nodeFields(flags),
    ...(flags.mode !== undefined && { mode_name: flags.mode }),
    ...(flags.fields !== undefined && { plugin_fields: parsed(flags.fields, '--fields') }),
    ...(flags.visibility !== undefined && { visibility: flags.visibility }),
    ...(flags.federation !== undefined && { federations: flags.federation }),
  }
  const answer = (await call(cli, flags, 'chroma.store', input, { create: true })) as { entry_id: string }
  await print(cli, flags, answer, { table: () => `${answer.entry_id}\n` })
}

export async function runUpdate(cli: Cli, id: string, flags: NodeFlags): Promise<void> {
  const content = flags.content === '-' ? await pipedText(cli) : flags.content
  const changes = {
    ...nodeFields(flags),
    ...(content !== undefined && { content }),
    ...(flags.mode !== undefined && { mode_name: flags.mode }),
    ...(flags.decay !== undefined && { decay_enabled: onOff(flags.decay) }),
    ...(flags.rotten === true && { rotten: true }),
    ...(flags.fields !== undefined && { plugin_fields: parsed(flags.fields, '--fields') }),
  }
  if (Object.keys(changes).length === 0) {
    throw invalidArgument('options', '', 'at least one of those that say what to change')
  }
  const answer = (await call(cli, flags, 'chroma.set', { entry_id: id, ...changes })) as { updated: boolean }
  if (!answer.updated) throw missing(id)
  await print(cli, flags, answer, { table: () => fieldsText(answer) })
}

export async function runDelete(cli: Cli, id: string, flags: CommonFlags): Promise<void> {
  const answer = (await call(cli, flags, 'chroma.delete', { entry_id: id })) as { deleted: boolean }
  if (!answer.deleted) throw missing(id)
  await print(cli, flags, answer, { table: () => fieldsText(answer) })
}

/** At a command line, what changed nothing has failed. */
function missing(id: string): QuerentError {
  const message = `entry_id: there is no node ${JSON.stringify(id)} of yours that this could change`
  return new QuerentError('not_found', message, { entry_id: id })
}

/** Operations that answer with a few named values. */
export async function runNode(cli: Cli, name: string, input: Input, flags: CommonFlags): Promise<void> {
  const answer = (await call(cli, flags, name, input)) as Input
  await print(cli, flags, answer, { table: () => fieldsText(answer) })
}

export async function runAssign(
  cli: Cli,
  hashtag: string | undefined,
  place: string | undefined,
  flags: CommonFlags & { readonly file?: string; readonly starter?: true },
): Promise<void> {
  const input = {
    ...(hashtag !== undefined && { hashtag, ...(place !== undefined && placeOf(place)) }),
    ...(flags.file !== undefined && { text: await textOf(cli, flags.file) }),
    ...(flags.starter === true && { starter: true }),
  }
  const answer = (await call(cli, flags, 'chroma.assign', input, { create: true })) as { assigned?: render.Binding[] }
  await print(cli, flags, answer, {
    table: style =>
      answer.assigned === undefined
        ? render.bindingsText([answer as render.Binding], style)
        : `${answer.assigned.length} hashtags assigned\n`,
  })
}

export async function runMigrate(cli: Cli, hashtag: string, place: string, flags: CommonFlags): Promise<void> {
  await runNode(cli, 'chroma.migrate', { hashtag, ...placeOf(place) }, flags)
}

export async function runHashtags(cli: Cli, zone: string | undefined, flags: CommonFlags): Promise<void> {
  const answer = await call(cli, flags, 'chroma.hashtags', zone === undefined ? {} : { zone })
  const { hashtags } = answer as { hashtags: render.Binding[] }
  await print(cli, flags, answer, { table: style => render.bindingsText(hashtags, style) })
}

export async function runSuggest(cli: Cli, words: readonly string[], flags: CommonFlags): Promise<void> {
  const content = words.length === 1 && words[0] === '-' ? await pipedText(cli) : words.join(' ')
  const answer = await call(cli, flags, 'chroma.suggest_hashtags', { content })
  const { hashtags } = answer as { hashtags: readonly string[] }
  await print(cli, flags, answer, { table: () => hashtags.map(tag => `${tag}\n`).join('') })
}

export async function runPlace(cli: Cli, tags: readonly string[], flags: CommonFlags): Promise<void> {
  await runNode(cli, 'chroma.place', { hashtags: tags.flatMap(tagsOf) }, flags)
}

export async function runLong(cli: Cli, name: string, flags: CommonFlags): Promise<void> {
  const answer = (await withProgress(cli.io, report => call(cli, flags, name, {}, { report }))) as Input
  await print(cli, flags, answer, { table: () => fieldsText(answer) })
}

export async function runForecast(
  cli: Cli,
  flags: CommonFlags & { readonly days: number; readonly limit?: number },
): Promise<void> {
  const { days, limit } = flags
  const answer = await call(cli, flags, 'chroma.forecast', { days, ...(limit !== undefined && { limit }) })
  await print(cli, flags, answer, { table: style => render.forecastText(answer as render.Forecast, style) })
}

export async function runMap(
  cli: Cli,
  words: readonly string[],
  flags: ChromaQueryFlags & { readonly out: string },
): Promise<void> {
  const { k, ...query } = queryOptions({ ...flags, access: true })
  const input = { ...askedFor(words, flags), ...(k !== undefined && { k }), query }
  const { svg, nodes } = (await call(cli, flags, 'chroma.map', input)) as { svg: string; nodes: number }
  const file = resolve(cli.io.workingFolder, flags.out)
  try {
    await writeFile(file, svg)
  } catch (error) {
    throw new QuerentError('io_failed', `--out: ${(error as Error).message}`, { path: file }, error)
  }
  const answer = { out: file, nodes }
  await print(cli, flags, answer, { table: () => `${nodes} nodes drawn to ${flags.out}\n` })
}

export async function runExportNodes(cli: Cli, flags: CommonFlags): Promise<void> {
  const document = await call(cli, flags, 'chroma.export', {})
  await writeJson(cli.io.stdout, document, 2)
}

export async function runImportNodes(cli: Cli, file: string, flags: CommonFlags): Promise<void> {
  const document = parsed(await textOf(cli, file), file) as Input
  const answer = (await call(cli, flags, 'chroma.import', document, { create: true })) as { imported: number }
  await print(cli, flags, answer, { table: () => `${answer.imported} nodes imported\n` })
}

function call(
  cli: Cli,
  flags: CommonFlags,
  name: string,
  input: Input,
  options: SessionOptions = {},
): Promise<unknown> {
  return withSession(cli, flags, { ...options, onlyLenses: ['chroma'] }, ({ catalog, run }) =>
    run(findOperation(catalog, name), input),
  )
}
