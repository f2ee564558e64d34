import { ClipboardCheck } from 'lucide';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { FlightReport } from '../../../../../../shared/schemas/flight-report.ts';
import { Unfold } from '../../../parts/parts.tsx';
import { t } from '../../../strings.ts';
import { Findings } from '../logs/findings.tsx';
import type { LogClient } from './log-client.ts';

/** What happened in the flight, worked out in this browser when it is asked for: the whole log is read for it. */
export function LogReport({
  client,
  onFailure,
}: {
  readonly client: LogClient;
  readonly onFailure: (error: unknown) => void;
}): JSX.Element {
  const [open, setOpen] = useState(false);
  const [report, setReport] = useState<FlightReport | null>(null);
  const isWanted = open && report === null;
  useEffect(() => {
    if (!isWanted) return undefined;
    let wanted = true;
    client.ask('report', {}).then(
      (made) => {
        if (wanted) setReport(made);
      },
      (error: unknown) => wanted && onFailure(error),
    );
    return () => {
      wanted = false;
    };
  }, [client, isWanted]);
  return (
    <Unfold title={t.vehicle.plots.report} icon={ClipboardCheck} onToggle={setOpen}>
      {report === null ? <p class="hint">{t.app.loading}</p> : <Findings findings={report.findings} />}
    </Unfold>
  );
}
