/** QE-019: what a snapshot writes goes to the disk in parts, so that no step waits for more than one of them. */
import { expect, it, vi } from 'vitest'
import type { Index } from '../../../src/index/contract.ts'
import { saveInSteps } from '../../../src/index/snapshot.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { VectorStore } from '../../support/vector-stores.ts'

const disk = vi.hoisted(() => ({ unsynced: 0, most: 0, syncs: 0 }))
vi.mock('node:fs', async original => {
  const actual = await original<typeof import('node:fs')>()
  const synced = (sync: (file: number) => void) => (file: number) => {
    sync(file)
    disk.most = Math.max(disk.most, disk.unsynced)
    disk.unsynced = 0
    disk.syncs++
  }
  const writeSync = (...args: Parameters<typeof actual.writeSync>) => {
    const written = actual.writeSync(...args)
    disk.unsynced += written
    return written
  }
  return { ...actual, writeSync, fdatasyncSync: synced(actual.fdatasyncSync), fsyncSync: synced(actual.fsyncSync) }
})

const MIB = 1 << 20

it('QE-019: a snapshot is synced every 4 MiB, at most once a step, and its file and folder in steps of their own', () => {
  using folder = tempFolder()
  const bytes = new Uint8Array(21 * MIB)
  const index = { name: 'vectors', position: 1, serialise: () => [bytes] } as unknown as Index
  const steps = saveInSteps(folder.file('vectors.snapshot'), index, new VectorStore().store)
  const syncs: number[] = []
  for (let before = 0; ; before = disk.syncs) {
    const step = steps.next(false)
    syncs.push(disk.syncs - before)
    if (step.done === true) break
  }
  expect(Math.max(...syncs)).toBe(1)
  expect(disk.syncs).toBeGreaterThanOrEqual(Math.floor(21 / 4) + (process.platform === 'win32' ? 1 : 2))
  // The header comes with the first part.
  expect(disk.most).toBeLessThan(5 * MIB)
})
