/** Tools, resources and prompts that the conformance suites call by name. */
import { completable, type McpServer, ResourceTemplate, type ServerEventBus } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { AUDIO, BINARY, embedded, FIXTURE, IMAGE, text } from './contents.ts'

const pause = (): Promise<void> => new Promise(resolve => setTimeout(resolve, 20))

export function addFixtures(server: McpServer, bus: ServerEventBus): void {
  addPlainTools(server)
  addTellingTools(server, bus)
  addResources(server)
  addPrompts(server)
}

function addPlainTools(server: McpServer): void {
  const resource = embedded('test://embedded-resource', 'This is an embedded resource content.')
  const contents = {
    test_simple_text: [text('This is a simple text response for testing.')],
    test_image_content: [IMAGE],
    test_audio_content: [AUDIO],
    test_embedded_resource: [resource],
    test_multiple_content_types: [text('Multiple content types test:'), IMAGE, resource],
  }
  for (const [name, content] of Object.entries(contents)) server.registerTool(name, FIXTURE, () => ({ content }))
  server.registerTool('test_error_handling', FIXTURE, () => {
    throw new Error('This tool intentionally returns an error for testing')
  })
  // A stateless server can ask its client nothing; to say so at once spares the suite its wait.
  for (const name of ['test_sampling', 'test_elicitation']) {
    server.registerTool(name, FIXTURE, () => ({ isError: true, content: [text('needs a session')] }))
  }
}

function addTellingTools(server: McpServer, bus: ServerEventBus): void {
  server.registerTool('test_tool_with_progress', FIXTURE, async ({ mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined) {
        await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } })
      }
      await pause()
    }
    return { content: [text(String(progressToken))] }
  })
  for (const name of ['test_tool_with_logging', 'test_logging_tool']) {
    server.registerTool(name, FIXTURE, async ({ mcpReq }) => {
      for (const said of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
        await mcpReq.log('info', said)
        await pause()
      }
      return { content: [text('logged')] }
    })
  }
  server.registerTool('test_trigger_tool_change', FIXTURE, () => {
    bus.publish({ kind: 'tools_list_changed' })
    return { content: [text('told')] }
  })
  server.registerTool('test_trigger_prompt_change', FIXTURE, () => {
    bus.publish({ kind: 'prompts_list_changed' })
    return { content: [text('told')] }
  })
}

function addResources(server: McpServer): void {
  const said = 'This is the content of the static text resource.'
  server.registerResource('static-text', 'test://static-text', { mimeType: 'text/plain' }, ({ href }) => ({
    contents: [{ uri: href, mimeType: 'text/plain', text: said }],
  }))
  server.registerResource('static-binary', 'test://static-binary', { mimeType: 'image/png' }, ({ href }) => ({
    contents: [{ uri: href, mimeType: 'image/png', blob: BINARY }],
  }))
  const template = new ResourceTemplate('test://template/{id}/data', { list: undefined })
  server.registerResource('template', template, { mimeType: 'application/json' }, ({ href }, { id }) => ({
    contents: [{ uri: href, mimeType: 'application/json', text: JSON.stringify({ id, templateTest: true }) }],
  }))
}

function addPrompts(server: McpServer): void {
  const user = (...contents: ReturnType<typeof text>[]) => ({
    messages: contents.map(content => ({ role: 'user' as const, content })),
  })
  server.registerPrompt('test_simple_prompt', FIXTURE, () => user(text('This is a simple prompt for testing.')))
  const arg1 = completable(z.string(), value => ['test1', 'test2'].filter(name => name.startsWith(value)))
  server.registerPrompt(
    'test_prompt_with_arguments',
    { ...FIXTURE, argsSchema: z.object({ arg1, arg2: z.string() }) },
    args => user(text(`Prompt with arguments: arg1='${args.arg1}', arg2='${args.arg2}'`)),
  )
  const argsSchema = z.object({ resourceUri: z.string() })
  server.registerPrompt('test_prompt_with_embedded_resource', { ...FIXTURE, argsSchema }, ({ resourceUri }) =>
    user(embedded(resourceUri, 'Embedded resource content for testing.'), text('Please process the resource above.')),
  )
  server.registerPrompt('test_prompt_with_image', FIXTURE, () => user(IMAGE, text('Please analyze the image above.')))
}
