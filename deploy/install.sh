#!/bin/sh
# Installs a built node: copies it to /opt/svc, makes its user, installs and enables its unit. May be run again to upgrade.
#   npm ci && npm run build && npm prune --omit=dev && sudo deploy/install.sh
#   --destdir DIR  below DIR instead of /, without touching users or systemd (packages, tests)
set -eu

destdir=
while [ $# -gt 0 ]; do
  case $1 in
    --destdir) destdir=${2:?--destdir needs a folder}; shift 2 ;;
    -h | --help) sed -n '2,4s/^# *//p' "$0"; exit 0 ;;
    *) echo "install.sh: unknown argument $1" >&2; exit 2 ;;
  esac
done

root=$(cd "$(dirname "$0")/.." && pwd)
[ -f "$root/dist/bin/supervisor/main.js" ] || { echo "install.sh: $root/dist is not built; run: npm run build" >&2; exit 1; }
[ -d "$root/node_modules/node" ] || { echo "install.sh: $root/node_modules is missing; run: npm ci" >&2; exit 1; }
[ -n "$destdir" ] || [ "$(id -u)" -eq 0 ] || { echo 'install.sh: needs root' >&2; exit 1; }

# The new tree stands beside the old one until it is complete: a power cut leaves one of them whole.
opt=$destdir/opt
mkdir -p "$opt"
new=$opt/.svc.new
rm -rf "$new"
mkdir "$new"
cp -R "$root/dist" "$root/node_modules" "$new/"
install -D -m 0755 "$root/bin/svc.js" "$new/bin/svc.js"
cp "$root/package.json" "$root/README.md" "$root/LICENSE" "$new/"
sync -f "$new"
rm -rf "$opt/.svc.old"
[ ! -d "$opt/svc" ] || mv "$opt/svc" "$opt/.svc.old"
mv "$new" "$opt/svc"
rm -rf "$opt/.svc.old"

install -D -m 0644 "$root/deploy/systemd/svc.service" "$destdir/etc/systemd/system/svc.service"
install -D -m 0644 "$root/deploy/sysusers.d/svc.conf" "$destdir/usr/lib/sysusers.d/svc.conf"
mkdir -p "$destdir/usr/local/bin"
ln -sfn /opt/svc/bin/svc.js "$destdir/usr/local/bin/svc"
[ -z "$destdir" ] || exit 0

systemd-sysusers svc.conf
systemctl daemon-reload
systemctl enable svc.service
systemctl restart svc.service
