import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { atOnce } from '../../../src/base/turns.ts'
import { markdownStructure } from '../../../src/text/markdown-structure.ts'
import { noteMarksInSteps } from '../../../src/text/note-links.ts'

function noteMarks(...given: Parameters<typeof noteMarksInSteps>) {
  return atOnce(noteMarksInSteps(...given))
}

function marks(text: string, from = 0) {
  const { links, tags } = noteMarks(text, from, markdownStructure(text, from).blocks)
  return { links: links.map(({ target, isRelative }) => (isRelative ? `./${target}` : target)), tags }
}

describe('Links and tags of a note (QE-016):', () => {
  it.each([
    ['[[Backup policy]]', 'Backup policy'],
    ['[[backup|the policy]]', 'backup'],
    ['[[backup#Restore|how]]', 'backup'],
    ['[[backup#^block-1]]', 'backup'],
    ['[[folder/backup.md]]', 'folder/backup'],
    ['![[backup]]', 'backup'],
    ['| a |\n| - |\n| [[backup\\|shown]] |', 'backup'],
    ['[the policy](notes/backup.md)', './notes/backup'],
    ['[the policy](../backup%20policy.md#restore "title")', './../backup policy'],
    ['[the policy](<backup policy.md>)', './backup policy'],
    ['[a](notes/plan_(old).md)', './notes/plan_(old)'],
    ['[see][1]\n\n[1]: backup.md', './backup'],
  ])('reads %j as a link', (text, target) => {
    expect(marks(text).links).toEqual([target])
  })

  it.each([
    '[[#Restore]]',
    '[restore](#restore)',
    '[there](https://example.org/backup.md)',
    '[mail](mailto:a@example.org)',
    '`[[backup]]`',
    '``a ` [[backup]]``',
    '```\n[[backup]]\n[a](b.md)\n```',
    'Text\n\n    [[backup]]\n',
    '- item\n  ```sh\n  [[backup]]\n  ```',
    '\\[[backup]]',
    '<!-- [[backup]] -->',
    '[[]]',
    '`a\n[[backup]]`',
  ])('reads no link in %j', text => {
    expect(marks(text).links).toEqual([])
  })

  it('reads tags with their parts, and none in headings, code, addresses, numbers and colours of tags of HTML', () => {
    const text = [
      '# Heading',
      '## Second #inside',
      '#animal/mustelid and #Žluťoučký, (#work) #v1-2 #trailing/',
      'issue #12, C# and a#b, [x](https://example.org/#anchor) https://example.org/ #ok',
      '`#code` <font color="#ff00aa">red</font>',
      '```',
      '#fenced',
      '```',
    ].join('\n')
    expect(marks(text).tags).toEqual(['inside', 'animal/mustelid', 'Žluťoučký', 'work', 'v1-2', 'trailing', 'ok'])
  })

  it('reads links of front matter, and no tags there', () => {
    const front = '---\nup: "[[Index]]"\ncolour: #red\n---\n'
    expect(marks(`${front}#here [[Other]]`, front.length)).toEqual({ links: ['Index', 'Other'], tags: ['here'] })
  })

  it('ends inline code at a blank line', () => {
    expect(marks('A ` sign.\n\n[[backup]] and `b`').links).toEqual(['backup'])
  })

  it('names each link and tag once', () => {
    expect(marks('[[a]] [[a|b]] [[a#c]] #t #t')).toEqual({ links: ['a'], tags: ['t'] })
  })

  it('reads any text, also a long one of opening signs alone', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('[[', ']]', '](', '`', '``', '<!--', '#', 'a', '\n', '|', '://', '\\')),
        parts => {
          const { links, tags } = marks(parts.join(''))
          for (const name of [...links, ...tags]) expect(name).not.toBe('')
        },
      ),
    )
    for (const sign of ['[[', '](', '](<a', '`', '` `` ', '<!--', '[a](b', '#/', '<a ']) {
      expect(() => noteMarks(sign.repeat(200_000), 0, [])).not.toThrow()
    }
  })
})
