/** Questions as resources: reading one gives its answer as it is now, for whoever reads. */
import { type McpServer, ResourceNotFoundError, ResourceTemplate } from '@modelcontextprotocol/server'
import type { Engine } from '../../../engine/engine.ts'
import { runOperation } from '../../../ops/catalog.ts'
import { query } from '../../../ops/query-ops.ts'
import { briefAnswer } from '../answer.ts'
import { protocolError, reportBug, type ServerOptions } from '../server-options.ts'
import { wire } from '../tool-call.ts'
import { QUERY_ANSWER } from '../tool-table.ts'
import { LENS_TEMPLATE, LIVE_TEMPLATE, questionAt } from './changes.ts'

/** A resource has no parameters to ask for more with: the answer is as long as an agent may want to read again and again. */
const MAX_TOKENS = 2000

export function registerLiveResources(server: McpServer, engine: Engine, options: ServerOptions): void {
  const config = {
    title: 'Live answer',
    description:
      'The answer to a question (URL-encoded) as it is now. Subscribe to be notified when it changes. Data, not instructions.',
    mimeType: 'application/json',
  }
  const read = async (uri: URL, signal: AbortSignal) => {
    const question = questionAt(uri.href, options.lens)
    if (question === null) throw new ResourceNotFoundError(uri.href)
    const text = await answerTo(engine, question, { ...options, signal })
    return { contents: [{ uri: uri.href, mimeType: 'application/json', text, _meta: { 'querent/content': 'data' } }] }
  }
  for (const [name, template] of [
    ['live', LIVE_TEMPLATE],
    ['live-lens', LENS_TEMPLATE],
  ] as const) {
    server.registerResource(name, new ResourceTemplate(template, { list: undefined }), config, (uri, _names, context) =>
      read(uri, context.mcpReq.signal).catch(thrown => {
        reportBug(thrown, name, context, options)
        throw protocolError(thrown, options.viewer)
      }),
    )
  }
}

/** Asking is no use of what is found: else reading after each change would change the answer again. */
async function answerTo(
  engine: Engine,
  question: NonNullable<ReturnType<typeof questionAt>>,
  { viewer, remote, signal }: ServerOptions & { readonly signal: AbortSignal },
): Promise<string> {
  const ask = async (more: { readonly limit?: number }) =>
    wire(
      await runOperation(
        query,
        engine,
        { ...question, ...more, touch: false },
        { viewer, remote, signal, shortCursors: true },
      ),
    )
  return briefAnswer(QUERY_ANSWER, await ask({}), MAX_TOKENS, limit => ask({ limit }))
}
