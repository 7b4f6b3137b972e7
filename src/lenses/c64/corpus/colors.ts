/** Records of the sixteen colours. */
import type { DomainRecord } from '../enrichment/domain.ts'
import { COLORS } from '../facts/facts.ts'
import { alsoCalled, sentences, tagList } from './wording.ts'

export function colorRecords(): readonly DomainRecord[] {
  return COLORS.map(({ index, name, tag, aliases, petscii, petsciiDec, keys, rgb }) => ({
    id: `c64:color:${index}`,
    title: `${name}: colour ${index}`,
    type: 'color',
    text: sentences(
      `Colour (color) number ${index} of the palette is ${name.toLowerCase()}, about ${rgb}`,
      `Text colour by ${keys}, control code ${petscii} (CHR$(${petsciiDec}))`,
      alsoCalled(aliases),
    ),
    tags: tagList(tag),
  }))
}
