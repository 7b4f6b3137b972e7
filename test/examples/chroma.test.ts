/** The examples of the lens chroma run and print what their last lines say (CQ-148). */
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { environment } from '../support/command.ts'

const folder = new URL('../../examples/chroma/', import.meta.url)
/** What all of them share, no program. */
const SHARED = 'store.ts'
const files = readdirSync(folder).filter(name => name.endsWith('.ts'))
const programs = files.filter(name => name !== SHARED)

describe('examples/chroma', () => {
  it('has programs, which use nothing but the library', () => {
    expect(programs.length).toBeGreaterThan(5)
    for (const name of files) {
      const imported = [...readFileSync(new URL(name, folder), 'utf8').matchAll(/ from '([^']+)'/g)].map(
        ([, from]) => from,
      )
      expect(imported.filter(from => from !== '../../src/index.ts' && from !== `./${SHARED}`)).toEqual([])
    }
  })

  it.each(programs)('%s prints what it says', async name => {
    const file = new URL(name, folder)
    const said = readFileSync(file, 'utf8')
      .split('\n// Prints:\n')[1]
      ?.replace(/^\/\/ ?/gm, '')
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [fileURLToPath(file)], {
      env: environment(),
    })
    expect({ stdout, stderr }).toEqual({ stdout: said, stderr: '' })
  })
})
