import { describe, expect, it } from 'vitest'
import { readChunkFile } from '../../../../src/lenses/c64/chunk-ingester.ts'

const page = `# The border

**Summary:** colours of the frame.

## Source Code

\`\`\`asm
# no heading
## Labels
.,FFD2 6C 26 03  JMP ($0326)
.,ffd5 4C 9E F4
      .,x
\`\`\`

## Key Registers

- $D020 - VIC-II - border colour
- $D021-$D023 - backgrounds, see $9a
- $D800-$DBE7 - colour RAM
- nothing
$D418 in prose

## References

- "vic_ii_overview" — all registers
- palette.md: the colours
- [SID](sid.md)

## Labels

- BSOUT
- light_blue
- EXTCOL — border

## Mnemonics

- lda
- **STA** stores
`

describe('a Markdown chunk', () => {
  const chunk = readChunkFile(page)

  it('has the title of its first heading', () => {
    expect(chunk.title).toBe('The border')
    expect(readChunkFile('no heading').title).toBeNull()
    expect(readChunkFile('```\n# code\n```\n## Real ##').title).toBe('Real')
  })

  it('has tags of registers, listings, labels and mnemonics; ranges up to 256 are spelled out', () => {
    expect(chunk.tags).toEqual([
      ...['$009A', '$D020', '$D021', '$D022', '$D023', '$D800', '$DBE7', '$FFD2', '$FFD5'],
      ...['CHROUT', 'EXTCOL', 'LDA', 'LIGHT BLUE', 'STA'],
    ])
  })

  it('expands a range of 256 addresses, and not one of 257', () => {
    const tags = (range: string) => readChunkFile(`## Key Registers\n- ${range}`).tags
    expect(tags('$C000-$C0FF')).toHaveLength(256)
    expect(tags('$C000-$C100')).toEqual(['$C000', '$C100'])
    expect(tags('$D000-D002')).toEqual(['$D000', '$D001', '$D002'])
    expect(tags('$C001-$C000')).toEqual(['$C000', '$C001'])
  })

  it('has references, which are no part of the document', () => {
    expect(chunk.references).toEqual([
      { chunk: 'vic_ii_overview', description: 'all registers' },
      { chunk: 'palette.md', description: 'the colours' },
      { chunk: 'SID', description: '' },
    ])
    expect(chunk.document).not.toContain('vic_ii_overview')
    expect(chunk.document).toContain('.,FFD2')
    expect(chunk.prose).toBe('# The border\n\n**Summary:** colours of the frame.')
  })
})
