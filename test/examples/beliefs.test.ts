/** The examples of the lens beliefs run and print what their last lines say. */
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { environment } from '../support/command.ts'

const folder = new URL('../../examples/beliefs/', import.meta.url)
const programs = readdirSync(folder).filter(name => name.endsWith('.ts'))

describe('examples/beliefs', () => {
  it.each(programs)('%s uses nothing but the library, and prints what it says', async name => {
    const file = new URL(name, folder)
    const source = readFileSync(file, 'utf8')
    expect([...source.matchAll(/ from '([^']+)'/g)].map(([, from]) => from)).toEqual(['../../src/index.ts'])
    const said = source.split('\n// Prints:\n')[1]?.replace(/^\/\/ ?/gm, '')
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [fileURLToPath(file)], {
      env: environment(),
    })
    expect({ stdout, stderr }).toEqual({ stdout: said, stderr: '' })
  })
})
