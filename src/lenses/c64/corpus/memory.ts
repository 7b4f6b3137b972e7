/** Records of memory: regions, groups of registers, locations, routines in ROM. */
import type { DomainRecord } from '../enrichment/domain.ts'
import { toAddress } from '../enrichment/parsed-number.ts'
import { addressOf, type Range, rangeOf, sizeOf } from '../facts/address.ts'
import { CPU_BANKING, IO_GROUPS, LOCATIONS, REGIONS, ROUTINES } from '../facts/facts.ts'
import { canonicalTag, namedTag } from '../names/tags.ts'
import { alsoCalled, sentences, tagList } from './wording.ts'

export function memoryRecords(): readonly DomainRecord[] {
  return [...locationRecords(), ...groupRecords(), ...regionRecords(), ...romRecords()]
}

/** Ranges up to this size carry a tag for each address, larger ones for both ends. */
const MOST_TAGS = 256

export function addressTags(range: Range): readonly string[] {
  if (sizeOf(range) > MOST_TAGS) return [toAddress(range.start), toAddress(range.end)]
  return Array.from({ length: sizeOf(range) }, (_, offset) => toAddress(range.start + offset))
}

const PROCESSOR_PORT = 'R6510'

function locationRecords(): readonly DomainRecord[] {
  return LOCATIONS.map(({ start, end, label, aliases, summary, category }) => {
    const place = placeText(start, end)
    return {
      id: `c64:location:${start}-${end}`,
      title: label === null ? `Memory ${place}` : `${label}: location ${place}`,
      type: 'location',
      text: sentences(
        summary,
        `${decimalText(start, end)}, ${category}`,
        label === PROCESSOR_PORT ? banking() : '',
        alsoCalled(aliases),
      ),
      tags: tagList(...addressTags(rangeOf({ start, end })), ...labelTags(label)),
    }
  })
}

function groupRecords(): readonly DomainRecord[] {
  return IO_GROUPS.map(({ start, end, title, summary }) => ({
    id: `c64:io:${start}-${end}`,
    title: `${title}: ${placeText(start, end)}`,
    type: 'io',
    text: sentences(summary, `${decimalText(start, end)}, input and output`),
    tags: tagList(...addressTags(rangeOf({ start, end }))),
  }))
}

function regionRecords(): readonly DomainRecord[] {
  return REGIONS.map(({ start, end, title, name, kind, summary }) => ({
    id: `c64:region:${start}-${end}:${name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}`,
    title: `${title}: memory ${placeText(start, end)}`,
    type: 'region',
    text: sentences(summary, `${decimalText(start, end)}, ${sizeOf(rangeOf({ start, end }))} bytes, ${kind}`),
    tags: tagList(start, end),
  }))
}

function romRecords(): readonly DomainRecord[] {
  return ROUTINES.map(({ address, dec, label, aliases, area, summary }) => ({
    id: `c64:rom:${address}`,
    title: `${label}: ${area} routine ${address}`,
    type: 'rom',
    text: sentences(summary, `${area} entry point, decimal ${dec}`, alsoCalled(aliases)),
    tags: tagList(address, ...labelTags(label)),
  }))
}

/** A label that is also the name of a register, jump table routine, instruction or colour means that, not this. */
function labelTags(label: string | null): readonly string[] {
  return label === null || namedTag(label) !== null ? [] : [canonicalTag(label)]
}

function placeText(start: string, end: string): string {
  return start === end ? start : `${start}-${end}`
}

function decimalText(start: string, end: string): string {
  return start === end ? `Decimal ${addressOf(start)}` : `Decimal ${addressOf(start)} to ${addressOf(end)}`
}

function banking(): string {
  const rows = CPU_BANKING.map(
    ({ port01Low3, A000, D000, E000 }) => `${port01Low3}: $A000 ${A000}, $D000 ${D000}, $E000 ${E000}`,
  )
  return `What the processor sees by bits 2-0: ${rows.join('; ')}`
}
