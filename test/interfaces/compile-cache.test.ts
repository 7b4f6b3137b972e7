/** Compiled code is kept where this user alone can write, or not at all: never in the shared folder for temporary files. */
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, symlinkSync } from 'node:fs'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { builtCommand } from '../support/built-command.ts'
import { type TempFolder, tempFolder } from '../support/temp-folder.ts'

let place: TempFolder
beforeEach(() => {
  place = tempFolder()
  for (const name of ['home', 'tmp']) mkdirSync(place.file(name))
})
afterEach(() => {
  // Node's own place, whatever else there is.
  expect(readdirSync(place.file('tmp'))).toEqual([])
  place[Symbol.dispose]()
})

function run(more: Readonly<Record<string, string>> = {}): void {
  const env = { PATH: process.env['PATH'] ?? '', HOME: place.file('home'), TMPDIR: place.file('tmp'), ...more }
  const { status, stderr } = spawnSync(process.execPath, [builtCommand(), '--help'], { env, encoding: 'utf8' })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
}

const mode = (name: string): number => statSync(place.file(name)).mode & 0o777
const isKept = (name: string): boolean => existsSync(place.file(name)) && readdirSync(place.file(name)).length > 0

it('is kept in the cache folder of the home', () => {
  run()
  expect(isKept('home/.cache/querent/compiled')).toBe(true)
  for (const name of ['home/.cache', 'home/.cache/querent', 'home/.cache/querent/compiled'])
    expect(mode(name)).toBe(0o700)
})

it('is kept in XDG_CACHE_HOME, where that is an absolute path', () => {
  run({ XDG_CACHE_HOME: place.file('cache') })
  expect(isKept('cache/querent/compiled')).toBe(true)
  expect(existsSync(place.file('home/.cache'))).toBe(false)
  run({ XDG_CACHE_HOME: 'relative' })
  expect(isKept('home/.cache/querent/compiled')).toBe(true)
})

it('is closed to others where its folder was open for reading', () => {
  mkdirSync(place.file('home/.cache/querent'), { recursive: true, mode: 0o755 })
  run()
  expect(isKept('home/.cache/querent/compiled')).toBe(true)
  expect(mode('home/.cache/querent')).toBe(0o700)
})

it('is not kept where others may have written, where the folder is a link, and where there is no home', () => {
  mkdirSync(place.file('home/.cache/querent'), { recursive: true })
  chmodSync(place.file('home/.cache/querent'), 0o777)
  run()
  expect(isKept('home/.cache/querent/compiled')).toBe(false)
  mkdirSync(place.file('open'))
  chmodSync(place.file('open'), 0o777)
  run({ XDG_CACHE_HOME: place.file('open') })
  expect(isKept('open/querent/compiled')).toBe(false)
  mkdirSync(place.file('elsewhere/compiled'), { recursive: true, mode: 0o700 })
  mkdirSync(place.file('linked'), { mode: 0o700 })
  symlinkSync(place.file('elsewhere'), place.file('linked/querent'))
  run({ XDG_CACHE_HOME: place.file('linked') })
  expect(isKept('elsewhere/compiled')).toBe(false)
  run({ HOME: place.file('none') })
  expect(existsSync(place.file('none'))).toBe(false)
})
