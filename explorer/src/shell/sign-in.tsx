import { useEffect, useRef } from 'preact/hooks'
import { isTokenWanted, token } from './session.ts'

/** Asks for a token where the server answers nobody without one, or not with the one that was given. */
export function SignIn() {
  const dialog = useRef<HTMLDialogElement>(null)
  const isWanted = isTokenWanted.value
  useEffect(() => {
    if (isWanted) dialog.current?.showModal()
    else dialog.current?.close()
  }, [isWanted])
  return (
    <dialog
      ref={dialog}
      class="sign-in"
      aria-labelledby="sign-in-title"
      onCancel={event => event.preventDefault()}
      // A browser closes it all the same for who presses Escape again and again.
      onClose={() => isTokenWanted.value && dialog.current?.showModal()}
    >
      <form
        onSubmit={event => {
          event.preventDefault()
          const given = new FormData(event.currentTarget).get('token')
          event.currentTarget.reset()
          isTokenWanted.value = false
          token.value = typeof given === 'string' && given !== '' ? given : null
        }}
      >
        <h2 id="sign-in-title">This server wants a token</h2>
        {token.value !== null && <p class="bad">The one you gave is not known here.</p>}
        <label class="field">
          <span>Token</span>
          <input name="token" type="password" required autocomplete="current-password" />
        </label>
        <p class="quiet small">It is kept for this tab alone, and sent to this server alone.</p>
        <button type="submit" class="primary">
          Continue
        </button>
      </form>
    </dialog>
  )
}

/** Forgets the token. */
export function SignOut() {
  if (token.value === null) return null
  return (
    <button type="button" class="small" onClick={() => (token.value = null)}>
      Sign out
    </button>
  )
}
