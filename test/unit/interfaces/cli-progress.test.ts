import { expect, it, vi } from 'vitest'
import { Pace, progressText, withProgress } from '../../../src/interfaces/cli/progress.ts'

const embed = (done: number, total: number | null = 1000) => ({ phase: 'embed', done, total })

it('names the rate and the time left of a phase once it has run for a second', () => {
  const pace = new Pace()
  expect(pace.describe(embed(0), 0)).toBe('')
  expect(pace.describe(embed(20), 500)).toBe('')
  expect(pace.describe(embed(80), 2_000)).toBe('40/s, 23 s left')
  expect(pace.describe(embed(100), 100_000)).toBe('1.0/s, 15 min left')
})

it('measures each phase from its own beginning, and one that continues from where it was', () => {
  const pace = new Pace()
  pace.describe({ phase: 'read', done: 0, total: 10 }, 0)
  expect(pace.describe({ phase: 'read', done: 10, total: 10 }, 5_000)).toBe('2.0/s, 0 s left')
  expect(pace.describe(embed(500), 6_000)).toBe('')
  expect(pace.describe(embed(600), 16_000)).toBe('10/s, 40 s left')
})

it('names no time left where the total is unknown', () => {
  const pace = new Pace()
  pace.describe(embed(0, null), 0)
  expect(pace.describe(embed(30, null), 2_000)).toBe('15/s')
  expect(progressText(embed(30, null))).toBe('embed 30')
  expect(progressText(embed(30))).toBe('embed 30 of 1000')
})

it('prints a line every ten seconds where there is no terminal, on one line whatever the name of the file', async () => {
  let [now, text] = [0, '']
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now)
  const write = (chunk: string | Uint8Array, done?: (error?: Error | null) => void) => {
    text += String(chunk)
    done?.()
    return true
  }
  const io = { env: {}, stderr: { write } } as unknown as Parameters<typeof withProgress>[0]
  await withProgress(io, async report => {
    for (; now < 30_000; now += 4_000)
      report({ phase: 'read', done: now / 1_000, total: 100, current: 'new\nline\u001b[31m.ts' })
  })
  clock.mockRestore()
  expect(text).toBe(
    'read 12 of 100, 1.0/s, 2 min left (new line\ufffd[31m.ts)\nread 24 of 100, 1.0/s, 2 min left (new line\ufffd[31m.ts)\n',
  )
})
