/**
 * The extractor against oracles that share no code with it: the TypeScript compiler on this repository and on installed
 * packages, Python's `ast` on a small repository of fixtures. `QUERENT_LONG=1` reads all of this repository's src.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import {
  extractPython,
  type Figures,
  FLOORS,
  MAX_FALL,
  measureExtraction,
  measurePython,
  OWN,
  OWN_PART,
  PACKAGES,
  PYTHON_FOLDER,
  pythonFacts,
} from '../../bench/lib/extraction.ts'
import { filesBelow } from '../support/extracted.ts'

const isLong = process.env['QUERENT_LONG'] === '1'
const own = isLong ? OWN : { ...OWN_PART, name: `${OWN_PART.name} (all of it with QUERENT_LONG=1)` }

describe('concepts and relations against the TypeScript compiler (CX-058, CX-059, CX-065, CX-070, CX-071)', () => {
  it.each([own, ...PACKAGES])('$name', async repository => {
    const { version, files, list, figures } = await measureExtraction(repository)
    if (repository.pinned !== null) {
      const why = 'other files are installed: measure them (npm run bench -- extract) and write the figures down'
      expect({ version, files, list }, why).toEqual(repository.pinned)
    }
    requireHeld(figures, repository.measured)
  })
})

describe("concepts and relations against Python's ast (CX-060, CX-070, CX-071)", () => {
  it('finds all that was kept of the fixture repository, and nothing else', async () => {
    const kept = pythonFacts()
    const { list, declarations, relations } = await extractPython()
    expect(list, 'the fixtures changed: make test/fixtures/code/python-ast.json again, as it says').toBe(kept.list)
    expect(declarations).toEqual(kept.declarations)
    expect(relations).toEqual(kept.relations)
    expect(declarations.length).toBeGreaterThan(30)
    requireHeld((await measurePython()).figures, { ...FLOORS, declarations: 1, dependencies: 1 })
  })

  const python = spawnSync('python3', ['-c', 'import ast'], { stdio: 'ignore' }).status === 0
  it.skipIf(!python)(`keeps what ast says${python ? '' : ' (skipped: there is no python3)'}`, () => {
    const oracle = fileURLToPath(new URL('../support/python-oracle.py', import.meta.url))
    const files = filesBelow(PYTHON_FOLDER, /\.py$/)
    const said = JSON.parse(execFileSync('python3', [oracle, PYTHON_FOLDER, ...files], { encoding: 'utf8' }))
    const { declarations, relations } = pythonFacts()
    expect({ declarations, relations }).toEqual(said)
  })
})

describe('the floors (CX-071)', () => {
  const good: Figures = { declarations: 1, dependencies: 1, heritage: 1, callPrecision: 1, callRecall: 1 }

  it.each([
    ['a figure below its floor', { ...good, declarations: 0.979 }, { ...good, declarations: 0.98 }],
    ['a fall of more than 0.01', { ...good, callRecall: 0.98 }, good],
    ['heritage where there was none', good, { ...good, heritage: null }],
    ['no heritage where there was some', { ...good, heritage: null }, good],
    ['a figure that is none', { ...good, callPrecision: Number.NaN }, good],
  ])('refuse %s', (_, figures, measured) => {
    expect(() => requireHeld(figures, measured)).toThrow()
  })

  it('let a fall of less pass', () => {
    expect(() => requireHeld({ ...good, callRecall: 0.995 }, good)).not.toThrow()
  })
})

function requireHeld(figures: Figures, measured: Figures): void {
  for (const name of Object.keys(FLOORS) as (keyof Figures)[]) {
    const [figure, floor, before] = [figures[name], FLOORS[name], measured[name]]
    if (before === null) {
      expect(figure, `${name}: none was there when it was measured`).toBeNull()
      continue
    }
    expect(figure, `${name}: the floor`).toBeGreaterThanOrEqual(floor as number)
    expect(figure, `${name}: no more than ${MAX_FALL} below what was measured`).toBeGreaterThanOrEqual(
      before - MAX_FALL,
    )
  }
}
