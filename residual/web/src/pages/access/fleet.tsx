import { Boxes } from 'lucide';
import type { JSX } from 'preact';
import { call } from '../../api/client.ts';
import { may } from '../../api/node.ts';
import { textIn } from '../../parts/form/form-text.ts';
import { moment } from '../../parts/format.ts';
import { Asked, Badge, Button, Card, ErrorNote, Field, HoldButton, Note } from '../../parts/parts.tsx';
import { say } from '../../parts/toast.tsx';
import { type AskState, useAct, useAsk } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';

const EVERY_MS = 5000;

/** GET /api/fleet, as far as it is shown. Times are ms since 1970. */
interface FleetDocument {
  readonly enrollment: {
    readonly enrolled: boolean;
    readonly problem: string | null;
    readonly hub: string | null;
    readonly fleet: string | null;
    readonly certificate_valid_to: number | null;
  };
  /** Null while not enrolled. */
  readonly link: {
    readonly connected: boolean;
    readonly via: string | null;
    readonly problem: string | null;
    readonly events_behind: number | null;
    readonly oldest_event_at: number | null;
    readonly events_dropped: number | null;
    readonly acknowledged_at: number | null;
  } | null;
}

/** The document of the fleet, as far as this page reads it. */
export function useFleet(): AskState<FleetDocument> {
  return useAsk('fleet.get', {}, EVERY_MS);
}

/** The fleet that this node belongs to: whether its hub hears it, and how to join and leave one. */
export function Fleet(): JSX.Element | null {
  const asked = useFleet();
  const { data: told, reload } = asked;
  const text = t.access.fleet;
  if (!may('fleet.get')) return null;
  return (
    <Card title={text.title} icon={Boxes}>
      <Asked of={asked} />
      {told === null ? null : (
        <>
          {told.enrollment.problem === null ? null : <Note tone="bad">{told.enrollment.problem}</Note>}
          {told.enrollment.enrolled ? (
            <Enrolled told={told} onLeft={reload} />
          ) : (
            <Enrol onEnrolled={reload} />
          )}
        </>
      )}
    </Card>
  );
}

function Enrolled({ told, onLeft }: { told: FleetDocument; onLeft: () => void }): JSX.Element {
  const act = useAct();
  const text = t.access.fleet;
  const leave = async (): Promise<void> => {
    await call('fleet.enrollment.delete');
    say(text.left, 'warn');
    onLeft();
  };
  return (
    <>
      <FleetState told={told} />
      <p class="hint">{text.certificate({ until: moment(told.enrollment.certificate_valid_to) })}</p>
      <ErrorNote error={act.error} />
      <HoldButton
        row="fleet.enrollment.delete"
        kind="danger"
        busy={act.busy}
        onConfirm={() => void act.run(leave)}
      >
        {text.leave}
      </HoldButton>
    </>
  );
}

/** Of which fleet it is part, and whether the hub has heard everything. */
export function FleetState({ told: { enrollment, link } }: { readonly told: FleetDocument }): JSX.Element {
  const text = t.access.fleet;
  const behind = link?.events_behind ?? null;
  return (
    <>
      <p>{text.part({ fleet: enrollment.fleet ?? t.app.none, hub: enrollment.hub ?? t.app.none })}</p>
      <p>
        {link?.connected === true ? (
          <Badge tone="good">{text.connected}</Badge>
        ) : (
          <Badge tone="warn">{text.away}</Badge>
        )}{' '}
        {link?.problem ?? link?.via ?? ''}
      </p>
      {behind === null ? null : (
        <p>
          {behind === 0 ? text.level : text.behind({ events: behind, since: moment(link?.oldest_event_at) })}{' '}
          {link?.acknowledged_at == null ? '' : text.acknowledged({ when: moment(link.acknowledged_at) })}
        </p>
      )}
      {(link?.events_dropped ?? 0) > 0 ? (
        <Note tone="warn">{text.dropped({ events: link?.events_dropped ?? 0 })}</Note>
      ) : null}
    </>
  );
}

function Enrol({ onEnrolled }: { onEnrolled: () => void }): JSX.Element {
  const act = useAct();
  const text = t.access.fleet;
  if (!may('fleet.enroll.post')) return <p>{text.none}</p>;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const form = new FormData(event.currentTarget);
        const body = { hub: textIn(form, 'hub').trim(), code: textIn(form, 'code').trim() };
        void act.run(async () => {
          await call('fleet.enroll.post', { body });
          onEnrolled();
        });
      }}
    >
      <p>{text.none}</p>
      <Field label={text.hub} hint={text.hubHint}>
        {(ids) => <input {...ids} name="hub" type="url" required placeholder="https://hub.example:8193" />}
      </Field>
      <Field label={text.code} hint={text.codeHint}>
        {(ids) => <input {...ids} name="code" required autocomplete="off" spellcheck={false} />}
      </Field>
      <ErrorNote error={act.error} />
      <Button type="submit" kind="primary" busy={act.busy}>
        {text.enrol}
      </Button>
    </form>
  );
}
