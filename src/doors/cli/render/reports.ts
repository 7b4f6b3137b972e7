/** What commands about the store print for people. */
import type { AddReport, Backup, Examination, ExplainAnswer, Status } from '../../../engine/engine.ts'
import { counted, lines, type Shown } from './answer.ts'
import { explanationText } from './explanation.ts'
import { oneLine, type Style } from './style.ts'

/** Most problems listed one by one; the rest is a number (`--json` has them all). */
const MOST_PROBLEMS = 20

export function addText(report: AddReport, { style }: Pick<Shown, 'style'>): string {
  const { added, updated, unchanged, deleted, skipped, errors, warnings, chunks, pending, embedding_error } = report
  const counts = `${added} added, ${updated} updated, ${unchanged} unchanged, ${deleted} deleted, ${skippedText(skipped)}, ${errors.length} failed`
  const reason = embedding_error === null ? '' : ` (${embedding_error})`
  const vectors = pending === 0 ? '' : `, ${pending} still without a vector${reason}`
  const problems = [
    ...errors.map(({ path, message }) => `${style.bad('failed')} ${oneLine(path)}: ${oneLine(message)}`),
    ...warnings.map(({ path, message }) => `warning ${oneLine(path)}: ${oneLine(message)}`),
  ]
  const shown = problems.slice(0, MOST_PROBLEMS)
  if (problems.length > shown.length) shown.push(`and ${problems.length - shown.length} more`)
  return lines([counts, `${counted(chunks, 'chunk')}${vectors}`, ...report.visibility_changes.map(moveText), ...shown])
}

function moveText({ path, from, to, count }: AddReport['visibility_changes'][number]): string {
  const entries = counted(count, 'entry', 'entries')
  return `visibility of ${entries} of ${oneLine(path)} changed from ${audienceText(from)} to ${audienceText(to)}`
}

function audienceText({ kind, federations = [] }: AddReport['visibility_changes'][number]['from']): string {
  return kind === 'shared' ? `shared with ${federations.map(oneLine).join(', ') || 'nobody'}` : kind
}

/** `3 skipped (binary: 2, symlink: 1)`, the commonest first; `0 skipped` when nothing was. */
function skippedText(skipped: AddReport['skipped']): string {
  const counts = new Map<string, number>()
  for (const { reason, count = 1 } of skipped) counts.set(reason, (counts.get(reason) ?? 0) + count)
  const all = [...counts.values()].reduce((sum, count) => sum + count, 0)
  const reasons = [...counts].sort(([, a], [, b]) => b - a).map(([reason, count]) => `${oneLine(reason)}: ${count}`)
  return reasons.length === 0 ? '0 skipped' : `${all} skipped (${reasons.join(', ')})`
}

export function explainText(answer: ExplainAnswer, { style }: Pick<Shown, 'style'>): string {
  const tree = answer.explanation === null ? '' : explanationText(answer.explanation, style)
  const over = answer.over === null ? '' : `${oneLine(answer.over.sentence)}\n${overText(answer.over, style)}`
  return `${over}${oneLine(answer.sentence)}\n${tree}`
}

function overText({ by_component, gap, swap }: NonNullable<ExplainAnswer['over']>, style: Style): string {
  const parts = Object.entries(by_component).map(([name, value]) => `  ${signed(value)} ${oneLine(name)}`)
  const swapped = swap === null ? [] : [style.dim(`${swap.weight} from ${swap.from} to ${swap.to} would swap them`)]
  return lines([...parts, `  ${signed(gap)} in all`, ...swapped])
}

export function statusText(status: Status): string {
  const { embedder, embedder_error } = status
  const meaning = embedder === null ? 'words only' : embedderText(embedder)
  const collections = status.collections.map(({ value, count }) => `${oneLine(value)} ${count}`)
  return lines([
    `querent ${status.version}`,
    // Told to the owner only.
    ...(status.home === null ? [] : [`home: ${status.home}`]),
    `entries: ${status.entries}${collections.length === 0 ? '' : ` (${collections.join(', ')})`}`,
    `chunks: ${status.chunks}, ${status.embedded} embedded`,
    `embedder: ${meaning}${embedder_error === null ? '' : ` (${oneLine(embedder_error)})`}`,
    ...status.indexes.map(
      ({ name, rows, bytes }) =>
        `index ${name}: ${[rows === null ? '' : counted(rows, 'row'), size(bytes)].filter(Boolean).join(', ')}`,
    ),
    `lenses: ${status.lenses.join(', ')}`,
    ...storageLines(status),
  ])
}

function embedderText({ id, dimensions, runs_on }: NonNullable<Status['embedder']>): string {
  const name = `${id}, ${dimensions} dimensions`
  if (runs_on === null) return name
  const runtime = runs_on.runtime === 'native' ? 'native runtime' : 'WebAssembly runtime'
  return `${name}, ${runtime}, ${counted(runs_on.workers, 'worker')} of one thread`
}

function storageLines({ storage }: Status): readonly string[] {
  if (storage === null) return []
  const pending = 'to erase: what was deleted may still be found in the log or in snapshots; see `querent help delete`'
  return [`log: ${size(storage.log_bytes)}`, ...(storage.to_erase ? [pending] : [])]
}

export function doctorText({ findings, backup }: Examination, { style }: Shown): string {
  return lines([
    ...findings.flatMap(({ check, ok, message, help, repaired }) => [
      `${ok ? style.good('ok  ') : style.bad('FAIL')} ${check}: ${oneLine(message)}`,
      ...(repaired === null ? [] : [`     repaired: ${oneLine(repaired)}`]),
      ...(help === null || ok ? [] : [`     ${oneLine(help)}`]),
    ]),
    ...(backup === null ? [] : [`the store as it was before: ${oneLine(backup)}`]),
  ])
}

export function backupText({ path, bytes, entries, not_held }: Backup): string {
  const held = `${counted(entries, 'entry', 'entries')}, ${size(bytes)}`
  return lines([
    `${oneLine(path)}: ${held}`,
    ...(not_held.length === 0 ? [] : [`not in it: ${not_held.join(', ')} of the home`]),
  ])
}

function signed(value: number): string {
  return `${value < 0 ? '' : '+'}${value.toFixed(4)}`
}

function size(bytes: number | null): string {
  return bytes === null ? '' : `${(bytes / 1024 / 1024).toFixed(1)} MiB`
}
