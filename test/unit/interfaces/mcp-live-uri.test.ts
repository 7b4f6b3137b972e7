import { describe, expect, it } from 'vitest'
import { listenMessage, questionAt } from '../../../src/interfaces/mcp/live.ts'

describe('the address of a question', () => {
  it.each([
    ['querent://live/honey', { text: 'honey' }],
    ['querent://live/what%20keeps%3F%20a%2Fb%2C%20%C3%A9', { text: 'what keeps? a/b, é' }],
    ['querent://live/honey?lens=chroma', { text: 'honey', lens: 'chroma' }],
    ['querent://live/honey?lens=my%20own', { text: 'honey', lens: 'my own' }],
  ])('%s is %j', (uri, question) => {
    expect(questionAt(uri, undefined)).toEqual(question)
  })

  it("is answered through the server's lens where it names none", () => {
    expect(questionAt('querent://live/honey', 'chroma')).toEqual({ text: 'honey', lens: 'chroma' })
    expect(questionAt('querent://live/honey?lens=default', 'chroma')).toEqual({ text: 'honey', lens: 'default' })
  })

  it.each([
    'querent://live/',
    'querent://live/a/b',
    'querent://live/%zz',
    'querent://entry/a',
    'querent://live/a?limit=3',
  ])('is not %s', uri => expect(questionAt(uri, undefined)).toBeNull())
})

describe('a request that listens', () => {
  const request = (resourceSubscriptions: unknown, id: unknown = 1) => ({
    jsonrpc: '2.0',
    id,
    method: 'subscriptions/listen',
    params: { notifications: { resourceSubscriptions } },
  })

  it('names resources', () => {
    expect(listenMessage(request(['a:b', 'c:d']))).toEqual({ id: 1, uris: ['a:b', 'c:d'] })
  })

  it.each([
    [request([])],
    [request('a:b')],
    [request(['a:b', 2])],
    [request(['a:b'], null)],
    [{ ...request(['a:b']), method: 'tools/list' }],
    [{ id: 1, method: 'subscriptions/listen' }],
    [[request(['a:b'])]],
    [null],
  ])('is not %j', message => {
    expect(listenMessage(message)).toBeNull()
  })
})
