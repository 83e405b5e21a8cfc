// Talking Stick in pi: made by `tt install pi`, removed by `tt uninstall pi`.
// It tells tt what happens in a session, shows the model what tt answers, stops a tool that may not change a
// file now, and wakes an idle session. If tt is missing or fails, it does nothing.
import { spawn } from "node:child_process"

const TT = "{{tt}}"

// The exit status by which tt asks to wake the agent. Any other is no order: a program that crashes has one too.
const WAKE = 76

// The tools that change files.
const EDITORS = ["edit", "write", "bash"]

// Starts a hook. Its answer is empty if anything fails.
function start(event: string, ctx: any, more: object, args: string[] = []) {
  const input = { hook_event_name: event, cwd: ctx.cwd, session_id: ctx.sessionManager.getSessionId(), ...more }
  let child: any
  const answer = new Promise<any>((done) => {
    let out = "", err = ""
    try {
      child = spawn(TT, ["hook", ...args], { cwd: ctx.cwd, stdio: ["pipe", "pipe", "pipe"] })
      child.on("error", () => done({}))
      child.stdin.on("error", () => {})
      child.stdout.on("data", (b: any) => (out += b))
      child.stderr.on("data", (b: any) => (err += b))
      child.on("close", (code: any) => {
        let said = {}
        try { said = out.trim() ? JSON.parse(out) : {} } catch {}
        done({ ...said, code, err: err.trim() })
      })
      child.stdin.end(JSON.stringify(input))
    } catch {
      done({})
    }
  })
  return { child, answer }
}

const hook = (event: string, ctx: any, more: object = {}) => start(event, ctx, more).answer
const context = (said: any): string => said.hookSpecificOutput?.additionalContext ?? ""

export default function (pi: any) {
  let briefing: Promise<string> | undefined // for the next prompt, or the next result of a tool
  let held = false // the agent has just been told not to stop yet
  let stopped = false // the agent has stopped by itself, so it is idle
  let waker: any // the process that waits to wake the agent

  const brief = (ctx: any, source: string) => (briefing = hook("session_start", ctx, { source }).then(context))

  async function texts(...more: Promise<string>[]) {
    const all = [briefing, ...more]
    briefing = undefined
    return (await Promise.all(all)).filter(Boolean).join("\n\n")
  }

  function wait(ctx: any) {
    waker?.kill()
    const { child, answer } = start("stop", ctx, {}, ["--wake"])
    waker = child
    answer.then((said) => {
      if (waker !== child) return
      waker = undefined
      if (said.code === WAKE && said.err) pi.sendUserMessage(said.err, { deliverAs: "followUp" })
    })
  }

  pi.on("session_start", (event: any, ctx: any) => {
    if (event.reason === "reload") { // the session goes on
      if (ctx.hasUI && ctx.isIdle()) wait(ctx)
      return
    }
    const talked = ctx.sessionManager.getEntries().some((entry: any) => entry.type === "message")
    brief(ctx, event.reason === "new" || event.reason === "fork" ? "clear" : talked ? "resume" : "startup")
  })
  pi.on("session_before_compact", async (_event: any, ctx: any) => void (await hook("compact", ctx)))
  pi.on("session_compact", (_event: any, ctx: any) => void brief(ctx, "compact"))
  pi.on("session_shutdown", async (event: any, ctx: any) => {
    const child = waker
    waker = undefined
    child?.kill()
    if (event.reason !== "reload") await hook("session_end", ctx, { reason: event.reason })
  })

  pi.on("before_agent_start", async (event: any, ctx: any) => {
    const content = await texts(hook("prompt", ctx, { prompt: event.prompt }).then(context))
    if (content) return { message: { customType: "talking-stick", content, display: true } }
  })
  pi.on("tool_call", async (event: any, ctx: any) => {
    if (!EDITORS.includes(event.toolName)) return
    const said = await hook("before_tool", ctx, { tool_name: event.toolName, tool_input: event.input })
    if (said.decision === "deny") return { block: true, reason: said.reason }
  })
  pi.on("tool_result", async (event: any, ctx: any) => {
    const text = await texts(hook("after_tool", ctx, { tool_name: event.toolName, tool_input: event.input }).then(context))
    if (text) return { content: [...event.content, { type: "text", text }] }
  })

  // A run that its person interrupts, or that fails, isn't the agent's own stop.
  pi.on("agent_end", async (event: any, ctx: any) => {
    const last = event.messages.at(-1)?.stopReason
    stopped = last !== "aborted" && last !== "error" && !ctx.hasPendingMessages()
    if (!stopped) return
    const said = await hook("stop", ctx, { stop_hook_active: held })
    held = said.decision === "block"
    if (held) pi.sendUserMessage(said.reason, { deliverAs: "followUp" })
  })
  pi.on("agent_settled", (_event: any, ctx: any) => {
    if (ctx.hasUI && stopped) wait(ctx) // without anybody at it, pi ends now
  })
}
