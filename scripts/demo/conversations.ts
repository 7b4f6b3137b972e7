/** The part of `npm run demo` that remembers conversations: a chat as a file, one more message, and questions over both. */
import { join } from 'node:path'
import { run } from './run.ts'

/** `folder`: where a store of their own is made, which waits for the vectors of no others. */
export function demoConversations(folder: string): void {
  const home = ['--home', join(folder, 'memory')]
  console.log('\n# The lens conversations: a chat comes in, one message is added…')
  run('init', ...home)
  run('add', '--chat', 'examples/chats', ...home)
  const said = ['--speaker', 'Tom', '--conversation', 'allotment', '--at', '2025-04-03T09:00:00Z', '--wait']
  run('remember', 'I put a new lock on the shed.', ...said, ...home)
  console.log('\n# … the answer says neither "seed" nor "potatoes", and the later message is marked as newer…')
  run('recall', 'When did Mira order the seed potatoes?', '--limit', '2', ...home)
  run('recall', 'Where is the greenhouse key now?', '--limit', '2', ...home)
  console.log('\n# … and in Spanish, with what was said around it, as it fits into a prompt.')
  run('recall', '¿Cuándo trae Lucía las tijeras?', '--neighbours', '1', '--max-tokens', '60', ...home)
}
