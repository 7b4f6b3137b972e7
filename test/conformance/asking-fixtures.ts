/** Fixtures that ask the client for input before they answer. */
import {
  acceptedContent,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  createRequestStateCodec,
  type InputRequests,
  inputRequired,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { z } from 'zod'
import { FIXTURE, text } from './contents.ts'

const codec = createRequestStateCodec<{ readonly round: number }>({ key: 'a key of 32 bytes that tests know' })
export const verifyState = codec.verify

const elicit = (message: string, field: string) =>
  inputRequired.elicit({ message, requestedSchema: z.object({ [field]: z.string() }) })
const confirm = () =>
  inputRequired.elicit({ message: 'Please confirm', requestedSchema: z.object({ ok: z.boolean() }) })
const sampling = (question: string) =>
  inputRequired.createMessage({
    messages: [{ role: 'user', content: { type: 'text', text: question } }],
    maxTokens: 100,
  })
const isGiven = (context: ServerContext, ...keys: string[]): boolean =>
  keys.every(key => context.mcpReq.inputResponses?.[key] !== undefined)
const answer = (said: string) => ({ content: [text(said)] })

/** Tools by name: what each asks for, whether it holds state, and what it says then. */
const ASKING: Readonly<
  Record<string, { readonly requests: () => InputRequests; readonly holds?: true; readonly says: string }>
> = {
  test_input_required_result_sampling: {
    requests: () => ({ capital_question: sampling('What is the capital of France?') }),
    says: 'the capital was told',
  },
  test_input_required_result_list_roots: {
    requests: () => ({ client_roots: inputRequired.listRoots() }),
    says: 'roots were told',
  },
  test_input_required_result_request_state: { requests: () => ({ confirm: confirm() }), holds: true, says: 'state-ok' },
  test_input_required_result_tampered_state: {
    requests: () => ({ confirm: confirm() }),
    holds: true,
    says: 'state-ok',
  },
  test_input_required_result_multiple_inputs: {
    requests: () => ({
      user_name: elicit('What is your name?', 'name'),
      greeting: sampling('Greet'),
      client_roots: inputRequired.listRoots(),
    }),
    holds: true,
    says: 'all was told',
  },
  test_missing_capability: { requests: () => ({ greeting: sampling('Greet') }), says: 'sampled' },
  test_streaming_elicitation: {
    requests: () => ({ user_name: elicit('What is your name?', 'name') }),
    says: 'elicited',
  },
}

export function addAskingFixtures(server: McpServer): void {
  for (const [name, { requests, holds, says }] of Object.entries(ASKING)) {
    server.registerTool(name, FIXTURE, async context => {
      const inputRequests = requests()
      if (isGiven(context, ...Object.keys(inputRequests))) return answer(says)
      return inputRequired({ inputRequests, ...(holds && { requestState: await codec.mint({ round: 1 }) }) })
    })
  }
  server.registerTool('test_input_required_result_elicitation', FIXTURE, context => {
    const given = acceptedContent(context.mcpReq.inputResponses, 'user_name', z.object({ name: z.string() }))
    if (given !== undefined) return answer(`Hello, ${given.name}!`)
    return inputRequired({ inputRequests: { user_name: elicit('What is your name?', 'name') } })
  })
  server.registerTool('test_input_required_result_multi_round', FIXTURE, async context => {
    const round = context.mcpReq.requestState<{ round: number }>()?.round ?? 0
    if (round >= 2 && isGiven(context, 'step2')) return answer('both steps were told')
    const next = round >= 1 && isGiven(context, 'step1') ? 2 : 1
    const request = next === 1 ? elicit('Step 1: your name?', 'name') : elicit('Step 2: your colour?', 'color')
    return inputRequired({
      inputRequests: { [`step${next}`]: request },
      requestState: await codec.mint({ round: next }),
    })
  })
  server.registerTool('test_input_required_result_capabilities', FIXTURE, context => {
    const envelope = (context.mcpReq.envelope ?? {}) as Record<string, unknown>
    const can = envelope[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined
    return inputRequired({
      inputRequests: {
        ...(can?.sampling !== undefined && { greeting: sampling('Greet') }),
        ...(can?.elicitation !== undefined && { user_name: elicit('What is your name?', 'name') }),
      },
    })
  })
  server.registerPrompt('test_input_required_result_prompt', FIXTURE, context => {
    const given = acceptedContent(context.mcpReq.inputResponses, 'user_context', z.object({ context: z.string() }))
    if (given === undefined) {
      return inputRequired({ inputRequests: { user_context: elicit('What is this about?', 'context') } })
    }
    return { messages: [{ role: 'user', content: text(`About ${given.context}`) }] }
  })
}
