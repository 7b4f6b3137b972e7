/** A small project in one folder. */
export const sampleFiles: Readonly<Record<string, string>> = {
  'src/store.ts': `/** Keeps values by name. */
export interface Store { get(name: string): string | null }
export class MemoryStore implements Store {
  get(name: string): string | null { return normalise(name) }
}
export function normalise(name: string): string { return name.trim() }
`,
  'src/login.ts': `import { MemoryStore, normalise } from './store.ts'
import { hash } from 'bcrypt'
export class LoginService {
  login(user: string): boolean { return check(new MemoryStore(), normalise(user)) }
}
function check(store: MemoryStore, user: string): boolean { return hash(store.get(user)) === user }
`,
  'src/main.ts':
    "import { LoginService } from './login.ts'\nexport function main(): boolean { return new LoginService().login('me') }\n",
  'README.md': '# Sample\n\nLogging in is done by `LoginService`; see [the store](src/store.ts).\n',
}
