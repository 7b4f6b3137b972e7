import { describe, expect, it } from 'vitest'
import { openCodeFolder } from '../../../support/code-folder.ts'

describe('code in one store with everything else', () => {
  it('is found beside notes by a question that names no lens', async () => {
    await using code = await openCodeFolder({ 'auth.ts': 'export class AuthService {}\n' })
    await code.do('/context/index')
    await code.engine.put({ entries: [{ id: 'note', content: 'AuthService was rewritten in May' }] })
    const { items } = await code.engine.query({ text: 'AuthService', limit: 10 })
    const kinds = items.map(({ kind, title, id }) => `${kind} ${title ?? id}`)
    expect(kinds).toEqual(expect.arrayContaining(['concept AuthService', 'code auth.ts']))
    expect(items.map(({ id }) => id)).toContain('note')
  })

  it('knows the documents that mention it', async () => {
    await using code = await openCodeFolder({
      'auth.ts': 'export class AuthService {}\n',
      'guide.md': '# Signing in\n\nAsk `AuthService` for it.\n',
    })
    await code.do('/context/index')
    expect(await code.do('/context/references', { name: 'AuthService', relation: 'MENTIONS' })).toMatchObject({
      references: [{ name: 'Signing in', type: 'Section', relation: 'MENTIONS' }],
    })
    const { concepts } = await code.do('/context/query', { query: 'AuthService', mode: 'exact' })
    expect(concepts).toEqual(expect.arrayContaining([expect.objectContaining({ name: 'Signing in' })]))
  })
})
