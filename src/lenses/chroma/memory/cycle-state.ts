/** How far a viewer's decay has come: the end of the last cycle, and the place of one that was cut off. */
import type { EntryKey } from '../../../model/entry.ts'
import type { StoreReader, StoreWriter } from '../../../store/store.ts'
import { CYCLES } from '../tables.ts'

/** Unix seconds; 0: never. */
export function lastCycle(reader: StoreReader, viewer: string): number {
  return (reader.table(CYCLES).get({ viewer })?.['at'] as number | undefined) ?? 0
}

/** Ends a cycle: its time, which never moves back, and nothing left to finish. */
export function endCycle(writer: StoreWriter, viewer: string, now: number): void {
  const at = Math.max(now, lastCycle(writer, viewer))
  if (at !== lastCycle(writer, viewer)) writer.table(CYCLES).put({ viewer, at })
  if (openCycle(writer, viewer) !== null) writer.setMeta(metaName(viewer), '')
}

export interface OpenCycle {
  /** The time the cycle is of. */
  readonly now: number
  /** All nodes up to this one are done. */
  readonly after: EntryKey
}

/** The cycle that began and did not end. */
export function openCycle(reader: StoreReader, viewer: string): OpenCycle | null {
  const text = reader.meta(metaName(viewer))
  return text === undefined || text === '' ? null : (JSON.parse(text) as OpenCycle)
}

export function keepCycle(writer: StoreWriter, viewer: string, cycle: OpenCycle): void {
  writer.setMeta(metaName(viewer), JSON.stringify(cycle))
}

/** Whether the daily work of a viewer has begun and not ended: a cycle, and the check behind it. */
export function isDayOpen(reader: StoreReader, viewer: string): boolean {
  return (reader.meta(dayName(viewer)) ?? '') !== ''
}

export function setDay(writer: StoreWriter, viewer: string, state: 'open' | 'done'): void {
  writer.setMeta(dayName(viewer), state === 'open' ? state : '')
}

function metaName(viewer: string): string {
  return `chroma.cycle:${viewer}`
}

function dayName(viewer: string): string {
  return `chroma.day:${viewer}`
}
