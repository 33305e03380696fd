#!/usr/bin/env python3
"""Writes the events of a made-up, realistic registry, for zpeerctl feed.

    generate_registry.py --instances 3000 --seed 7 DIRECTORY

The same seed always gives the same files:

    start.jsonl       every instance registers
    traffic.jsonl     a busy while: heartbeats, deployments (new instances
                      register, old ones cancel), maintenance (status overrides
                      set and deleted), health changes (registered anew as DOWN
                      or UP)
    heartbeats.jsonl  one heartbeat of every instance that is left
    source.json       the registry after all of it, as GET /eureka/apps shows it

Events are written as items of Eureka's peer replication. What an event does to
the registry follows the rules of a Eureka server that receives it.
"""

import argparse
import json
import pathlib
import random

EPOCH_MS = 1718270000000  # When the story begins; any fixed moment would do

SERVICES = """accounts addresses adverts alerts analytics audit auth basket
billing campaigns cards carriers catalog checkout claims contracts coupons
credit currency customers dashboards delivery devices directory discounts
documents emails exports favourites features feeds files forecasts fraud
fulfilment gateway geocoding history identity images imports inventory invoices
jobs ledger licences limits locations loyalty mailings media menus messages
metrics mobile newsletters notes notifications offers orders packaging partners
payments permissions photos planning points policies polls preferences pricing
printing products profiles promotions purchases quotas quotes ratings receipts
recommendations refunds registry reminders reports reservations returns reviews
rewards routing scheduling search sessions settings shipping signup statements
stock storage subscriptions suppliers support surveys tariffs tasks taxes
templates tickets tracking transfers translations trips uploads users vouchers
wallet warehouse weather webhooks wishlists""".split()

ZONES = ["eu-north-1a", "eu-north-1b", "eu-north-1c"]


class Instance:
    """One instance as the source holds it."""

    def __init__(self, info):
        self.info = info
        self.status = info["status"]
        self.override = "UNKNOWN"
        self.timestamp = int(info["lastDirtyTimestamp"])

    def key(self):
        return self.info["app"], self.info["instanceId"]

    def shown(self):
        """As a server shows it."""
        info = dict(self.info)
        info["status"] = self.status
        info["overriddenStatus"] = self.override
        info["lastDirtyTimestamp"] = str(self.timestamp)
        return info


class Source:
    """The registry, and the events that made it what it is."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.instances = {}
        self.keys = []  # Of the instances, some of them gone by now
        self.serial = 0
        self.clock = EPOCH_MS
        self.events = []

    def tick(self):
        self.clock += self.random.randint(1, 20)
        return self.clock

    def emit(self, action, instance, **members):
        app, instance_id = instance.key()
        event = {"appName": app, "id": instance_id}
        event.update(members)
        event["action"] = action
        self.events.append(event)

    def register(self, info):
        instance = Instance(info)
        known = self.instances.get(instance.key())
        if known:
            instance.override = known.override
            if known.override != "UNKNOWN" and info["status"] in (
                "UP",
                "OUT_OF_SERVICE",
            ):
                instance.status = known.override
        self.instances[instance.key()] = instance
        self.emit(
            "Register",
            instance,
            lastDirtyTimestamp=instance.timestamp,
            status=info["status"],
            instanceInfo=info,
        )

    def heartbeat(self, instance):
        members = {"lastDirtyTimestamp": instance.timestamp}
        members["status"] = instance.status
        if instance.override != "UNKNOWN":
            members["overriddenStatus"] = instance.override
        self.emit("Heartbeat", instance, **members)

    def cancel(self, instance):
        del self.instances[instance.key()]
        self.emit("Cancel", instance)

    def set_override(self, instance, status):
        timestamp = self.tick()
        if status != instance.status:
            instance.status = instance.override = status
            instance.timestamp = max(instance.timestamp, timestamp)
        self.emit(
            "StatusUpdate",
            instance,
            lastDirtyTimestamp=timestamp,
            status=status,
        )

    def delete_override(self, instance, status):
        timestamp = self.tick()
        if instance.override != "UNKNOWN":
            instance.override = "UNKNOWN"
            instance.status = status
            instance.timestamp = max(instance.timestamp, timestamp)
        self.emit(
            "DeleteStatusOverride",
            instance,
            lastDirtyTimestamp=timestamp,
            status=status,
        )

    def health(self, instance, status):
        """The service registers anew, because its health has changed."""
        info = dict(instance.info)
        info["status"] = status
        info["lastDirtyTimestamp"] = str(self.tick())
        self.register(info)

    def new_instance(self, service):
        self.serial += 1
        self.register(self.make_info(service, self.serial))

    def make_info(self, service, serial):
        """InstanceInfo as a service would send it."""
        zone = ZONES[serial % len(ZONES)]
        host = f"{service}-{serial:05}.{zone}.example.net"
        port = 8000 + serial % 1000
        secure = serial % 3 == 0
        scheme = "https" if secure else "http"
        now = str(self.tick())
        return {
            "instanceId": f"{host}:{service}:{port}",
            "hostName": host,
            "app": service.upper(),
            "ipAddr": f"10.{serial >> 16}.{serial >> 8 & 255}.{serial & 255}",
            "status": "UP",
            "overriddenStatus": "UNKNOWN",
            "port": {"$": port, "@enabled": str(not secure).lower()},
            "securePort": {"$": port, "@enabled": str(secure).lower()},
            "countryId": 1,
            "dataCenterInfo": self.data_center(serial, zone),
            "leaseInfo": {
                "renewalIntervalInSecs": 30,
                "durationInSecs": 90,
                "registrationTimestamp": int(now),
                "lastRenewalTimestamp": int(now),
                "evictionTimestamp": 0,
                "serviceUpTimestamp": int(now),
            },
            "metadata": {
                "zone": zone,
                "version": f"{serial % 4 + 1}.{serial % 17}.{serial % 7}",
                "management.port": str(port + 1000),
            },
            "homePageUrl": f"{scheme}://{host}:{port}/",
            "statusPageUrl": f"{scheme}://{host}:{port}/actuator/info",
            "healthCheckUrl": f"{scheme}://{host}:{port}/actuator/health",
            "vipAddress": service,
            "secureVipAddress": service,
            "isCoordinatingDiscoveryServer": "false",
            "lastUpdatedTimestamp": now,
            "lastDirtyTimestamp": now,
            "actionType": "ADDED",
        }

    @staticmethod
    def data_center(serial, zone):
        if serial % 5:
            return {
                "@class": "com.netflix.appinfo."
                "InstanceInfo$DefaultDataCenterInfo",
                "name": "MyOwn",
            }
        return {
            "@class": "com.netflix.appinfo.AmazonInfo",
            "name": "Amazon",
            "metadata": {
                "instance-id": f"i-{serial:08x}",
                "availability-zone": zone,
            },
        }

    def pick(self, wanted=lambda instance: True):
        """Some instance that is as wanted, or None."""
        for _ in range(50):
            instance = self.instances.get(self.random.choice(self.keys))
            if instance and wanted(instance):
                return instance
        return None

    def start(self, count):
        """Services differ in size as they do in life: few large, many small."""
        weights = [1 / (rank + 3) for rank in range(len(SERVICES))]
        services = self.random.sample(SERVICES, len(SERVICES))
        for service in services[:count]:
            self.new_instance(service)
        for service in self.random.choices(
            services, weights, k=max(0, count - len(services))
        ):
            self.new_instance(service)

    def deploy(self, old):
        """One goes, and comes back, or another comes in its place."""
        self.cancel(old)
        if self.random.random() < 0.3:
            self.health(old, "UP")
        else:
            self.new_instance(old.info["vipAddress"])

    def step(self):
        """One thing that happens on a busy day."""
        what = self.random.random()
        some = self.pick()
        if not some:  # All that the keys are of may be gone, if they are few
            self.keys = list(self.instances)
        free = self.pick(lambda i: i.override == "UNKNOWN")
        held = self.pick(lambda i: i.override != "UNKNOWN")
        if what < 0.70 and some:
            self.heartbeat(some)
        elif what < 0.80 and some:
            self.deploy(some)
        elif what < 0.88 and free:
            self.set_override(free, "OUT_OF_SERVICE")
        elif what < 0.94 and held:
            self.delete_override(held, "UP")
        elif what >= 0.94 and free:
            self.health(free, "UP" if free.status == "DOWN" else "DOWN")

    def traffic(self, count):
        while len(self.events) < count:
            if len(self.events) % 200 == 0:
                self.keys = list(self.instances)
            self.step()

    def shown(self):
        """The registry as GET /eureka/apps shows it."""
        apps = {}
        for instance in self.instances.values():
            app = instance.info["app"]
            apps.setdefault(app, []).append(instance.shown())
        return {
            "applications": {
                "versions__delta": "1",
                "apps__hashcode": "",
                "application": [
                    {"name": app, "instance": apps[app]} for app in sorted(apps)
                ],
            }
        }

    def write_events(self, path):
        with path.open("w", encoding="utf-8") as out:
            for event in self.events:
                out.write(json.dumps(event, separators=(",", ":")) + "\n")
        self.events = []


def positive(text):
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument(
        "--instances",
        type=positive,
        default=3000,
        metavar="N",
        help="how many register at the start (3000)",
    )
    parser.add_argument(
        "--traffic",
        type=int,
        default=6000,
        metavar="N",
        help="events of the busy while (6000)",
    )
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    options.directory.mkdir(parents=True, exist_ok=True)

    source = Source(options.seed)
    source.start(options.instances)
    source.write_events(options.directory / "start.jsonl")
    source.traffic(options.traffic)
    source.write_events(options.directory / "traffic.jsonl")
    for instance in source.instances.values():
        source.heartbeat(instance)
    source.write_events(options.directory / "heartbeats.jsonl")
    with (options.directory / "source.json").open("w", encoding="utf-8") as out:
        json.dump(source.shown(), out)


if __name__ == "__main__":
    main()
