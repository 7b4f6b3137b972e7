/** Flags that are made from a schema, and the input that they make. */
import { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { addFlags, type FlagNames } from '../../../src/interfaces/cli/flags.ts'
import { jsonSchema } from '../../../src/ops/catalog.ts'

const period = z.strictObject({ after: z.iso.datetime().optional().describe('From then on') })

const INPUT = z.strictObject({
  text: z.string().describe('What is asked'),
  limit: z.int().min(1).nullish().describe('How many. Default: 10'),
  timeout_ms: z.int().optional().describe('In milliseconds'),
  order: z.enum(['id', 'created']).optional().describe('Order of the list'),
  memory: z.boolean().optional().describe('Count it as used. Default: true'),
  explain: z.boolean().optional().describe('Whether to explain. Default: false'),
  filter: z
    .strictObject({
      any_tags: z.array(z.string()).optional().describe('With one of these tags'),
      metadata: z.record(z.string(), z.unknown()).optional().describe('By key'),
      created: period.optional().describe('When it was written'),
      updated: period.optional().describe('When it was changed'),
    })
    .optional()
    .describe('Conditions'),
})

function inputOf(args: readonly string[], names: FlagNames = {}): object {
  const command = new Command('test').exitOverride().configureOutput({ writeErr: () => {} })
  const set = addFlags(command, jsonSchema(INPUT, 'input'), ['text'], names)
  command.parse(args, { from: 'user' })
  return set(command.opts(), {})
}

function helpOf(): string {
  const command = new Command('test').configureHelp({ helpWidth: 200 })
  addFlags(command, jsonSchema(INPUT, 'input'), ['text'])
  return command.helpInformation()
}

describe('flags made from an input schema', () => {
  it.each<[readonly string[], object]>([
    [[], {}],
    [['--limit', '3'], { limit: 3 }],
    [['--timeout', '1.5'], { timeout_ms: 1500 }],
    [['--order', 'id'], { order: 'id' }],
    [['--no-memory', '--explain'], { memory: false, explain: true }],
    [['--memory', '--no-explain'], { memory: true, explain: false }],
    [['--any-tag', 'a', '--any-tag', 'b'], { filter: { any_tags: ['a', 'b'] } }],
    [['--metadata', '{"year": 2024}'], { filter: { metadata: { year: 2024 } } }],
    [['--metadata', 'null'], { filter: { metadata: null } }],
    [['--created-after', '2024-01-01T00:00:00Z'], { filter: { created: { after: '2024-01-01T00:00:00Z' } } }],
  ])('%j makes the input %j', (args, input) => {
    expect(inputOf(args)).toEqual(input)
  })

  it.each([
    [['--limit', 'many'], /Expected a number/],
    [['--order', 'size'], /Allowed choices are id, created/],
    [['--metadata', '{year'], /Expected JSON/],
    [['--text', 'x'], /unknown option '--text'/],
  ])('%j is refused, because %s', (args, message) => {
    expect(() => inputOf(args)).toThrow(message)
  })

  it('takes another name, another unit, and leaves out a field', () => {
    const names: FlagNames = { limit: 'most', timeout_ms: { unit: 'ms' }, order: null }
    expect(inputOf(['--most', '3', '--timeout', '20'], names)).toEqual({ limit: 3, timeout_ms: 20 })
    expect(() => inputOf(['--order', 'id'], names)).toThrow(/unknown option '--order'/)
  })

  it('describes each flag by the schema, and shows the form of a switch that changes the default', () => {
    const help = helpOf()
    expect(help).toMatch(/--limit <number> +how many. Default: 10\n/)
    expect(help).toMatch(/--timeout <seconds> +in milliseconds\n/)
    expect(help).toMatch(/--order <name> +order of the list \(choices: "id", "created"\)\n/)
    expect(help).toMatch(/--no-memory +do not count it as used\n/)
    expect(help).toMatch(/--explain +whether to explain. Default: false\n/)
    expect(help).toMatch(/--any-tag <text> +with one of these tags \(repeatable\)\n/)
    expect(help).toMatch(/--created-after <time> +when it was written: from then on\n/)
    expect(help).not.toMatch(/--memory|--no-explain|--text/)
  })
})
