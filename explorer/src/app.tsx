import { Header } from './shell/header.tsx'
import { Keys } from './shell/keys.tsx'
import { Outlet } from './shell/outlet.tsx'
import { SignIn } from './shell/sign-in.tsx'

export function App() {
  return (
    <>
      <button
        type="button"
        class="skip"
        onClick={() => {
          // The address is the view's; going to the content must not leave it.
          document.getElementById('main')?.focus()
        }}
      >
        Skip to content
      </button>
      <Header />
      <main id="main" tabIndex={-1}>
        <Outlet />
      </main>
      <footer class="bottom small">
        <a href="docs">API of this server</a>
      </footer>
      <Keys />
      <SignIn />
    </>
  )
}
