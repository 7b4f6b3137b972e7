/** Turns the Commodore 64 fact files into one record a fact (JSONL), the sample knowledge that the demo asks about. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export interface SampleRecord {
  readonly id: string
  readonly title: string
  readonly text: string
  readonly tags: readonly string[]
}

type Fact = Readonly<Record<string, unknown>>

export function c64Records(): readonly SampleRecord[] {
  return [
    ...facts('registers', 'registers').map(register),
    ...facts('kernal', 'entries').map(routine),
    ...facts('opcodes', 'official').map(instruction),
    ...facts('colors', 'colors').map(color),
    ...facts('memory-map', 'regions').map(region),
    ...facts('memory-map', 'locations')
      .filter(fact => fact['label'] !== null)
      .map(location),
    ...facts('memory-map', 'romRoutines').map(romRoutine),
  ]
}

function facts(file: string, key: string): readonly Fact[] {
  const path = fileURLToPath(new URL(`../src/lenses/c64/data/${file}.json`, import.meta.url))
  return (JSON.parse(readFileSync(path, 'utf8')) as Readonly<Record<string, readonly Fact[]>>)[key] ?? []
}

function text(fact: Fact, key: string): string {
  const value = fact[key]
  return value === null || value === undefined ? '' : String(value)
}

function list(fact: Fact, key: string): readonly string[] {
  return Array.isArray(fact[key]) ? (fact[key] as readonly unknown[]).map(String) : []
}

function register(fact: Fact): SampleRecord {
  const bits = (Array.isArray(fact['bits']) ? (fact['bits'] as readonly Fact[]) : [])
    .map(bit => `Bits ${text(bit, 'bits')} (${text(bit, 'name')}): ${text(bit, 'meaning')}.`)
    .join(' ')
  const [address, name, chip] = [text(fact, 'address'), text(fact, 'name'), text(fact, 'chip')]
  return {
    id: `c64:register:${address}`,
    title: `${chip} register ${name} at ${address} (${text(fact, 'dec')})`,
    text: `${text(fact, 'summary')} ${bits} ${text(fact, 'note')}`.trim(),
    tags: [chip, name, ...list(fact, 'aliases')],
  }
}

function routine(fact: Fact): SampleRecord {
  const [address, label] = [text(fact, 'address'), text(fact, 'label')]
  return {
    id: `c64:kernal:${label}`,
    title: `KERNAL ${label} at ${address} (${text(fact, 'dec')})`,
    text: `${text(fact, 'summary')} In: ${text(fact, 'in')} Out: ${text(fact, 'out')}`,
    tags: ['KERNAL', label, ...list(fact, 'aliases')],
  }
}

function instruction(fact: Fact): SampleRecord {
  const mnemonic = text(fact, 'mnemonic')
  const encodings = (Array.isArray(fact['encodings']) ? (fact['encodings'] as readonly Fact[]) : [])
    .map(e => `${text(e, 'mode')} ${text(e, 'opcode')}, ${text(e, 'bytes')} bytes, ${text(e, 'cycles')} cycles`)
    .join('; ')
  return {
    id: `c64:opcode:${mnemonic}`,
    title: `6510 instruction ${mnemonic}: ${text(fact, 'name')}`,
    text: `Operation: ${text(fact, 'operation')}. Flags ${text(fact, 'flags')}. ${encodings}.`,
    tags: ['6510', mnemonic],
  }
}

function color(fact: Fact): SampleRecord {
  return {
    id: `c64:color:${text(fact, 'index')}`,
    title: `Colour ${text(fact, 'index')}: ${text(fact, 'name')}`,
    text: `Palette entry ${text(fact, 'index')} of the VIC-II is ${text(fact, 'name')}, about ${text(fact, 'rgb')} in RGB.`,
    tags: ['color', text(fact, 'tag')],
  }
}

function region(fact: Fact): SampleRecord {
  const [start, end] = [text(fact, 'start'), text(fact, 'end')]
  return {
    id: `c64:region:${start}-${end}:${text(fact, 'name')}`,
    title: `Memory ${start} to ${end}: ${text(fact, 'name')}`,
    text: text(fact, 'summary'),
    tags: ['memory', text(fact, 'kind')],
  }
}

function location(fact: Fact): SampleRecord {
  const [start, label] = [text(fact, 'start'), text(fact, 'label')]
  return {
    id: `c64:location:${start}:${label}`,
    title: `Location ${label} at ${start}`,
    text: text(fact, 'summary'),
    tags: ['memory', label, ...list(fact, 'aliases')],
  }
}

function romRoutine(fact: Fact): SampleRecord {
  const [address, label] = [text(fact, 'address'), text(fact, 'label')]
  return {
    id: `c64:rom:${address}:${label}`,
    title: `ROM routine ${label} at ${address}`,
    text: `${text(fact, 'summary')} (${text(fact, 'area')})`,
    tags: ['ROM', label, ...list(fact, 'aliases')],
  }
}
